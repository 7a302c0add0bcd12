// Names of files and folders that decide what runs later: when a folder is opened, when git, a package manager or CI
// runs, when a shell starts. All in lower case. A Makefile is not among them: it runs only with `make`.

const agents =
  ".vitamin .plaited .claude .opencode opencode.json opencode.jsonc .agents .cursor .mcp.json .codex .gemini .windsurf .kiro .continue .roo .amazonq .junie .qwen .trae .crush .crush.json crush.json .aider.conf.yml"
const git = ".git .githooks .gitconfig .gitattributes .gitmodules .lfsconfig"
const hooks = ".husky .lefthook .pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml"
const editors =
  ".vscode .idea .vs .zed .fleet .helix .nova .exrc .vimrc .nvimrc .lvimrc .nvim.lua .lazy.lua .dir-locals.el .dir-locals-2.el .devcontainer .devcontainer.json"
const shells =
  ".envrc .tool-versions .mise .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .gdbinit .lldbinit .pdbrc .ssh"
const packages =
  ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnpmfile.mjs bunfig.toml .bundle .mvn sitecustomize.py usercustomize.py"
const ci = ".gitlab-ci.yml .circleci .buildkite"

/** A path with one of these segments is protected. */
export const protectedNames: ReadonlySet<string> = new Set(
  [agents, git, hooks, editors, shells, packages, ci].flatMap((names) => names.split(" ")),
)

/** A folder, and the name in it that is protected. */
export const protectedPairs: readonly (readonly [folder: string, name: string])[] = [
  [".github", "workflows"],
  [".github", "actions"],
  [".cargo", "config.toml"],
  [".cargo", "config"],
  ["node_modules", ".bin"],
]

/** Names of files that have variants, for a regular expression. Lengths are bounded: commands are searched for them. */
export const protectedForms = [
  "[\\w.-]{0,100}\\.(?:code-workspace|sublime-project)",
  "\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|jsonc?)",
  "\\.?mise(?:\\.[\\w-]{1,50}){0,2}\\.toml",
  "\\.(?:husky|lintstaged)rc(?:\\.\\w{1,9})?",
  "(?:lint-staged\\.config|\\.?simple-git-hooks)\\.\\w{1,9}",
].join("|")
