// Environment variables that decide which program runs, what it loads, or where it reads its settings. A rule that allows
// a command does not allow it with another PATH.

const names = new Set(
  (
    "PATH CDPATH ENV IFS SHELL SHELLOPTS BASHOPTS BASH_ENV BASH_FUNC PS4 PROMPT_COMMAND HOME TERMINFO TERMCAP GLOBIGNORE FIGNORE " +
    "PAGER EDITOR VISUAL BROWSER FCEDIT LESS LESSOPEN LESSCLOSE MORE MANOPT MAKE MAKEFLAGS CC CXX LD AR AS RUSTC CLASSPATH " +
    "GZIP ZIPOPT UNZIP TAR BLOCK_SIZE RSYNC_RSH CVS_RSH SVN_SSH DISPLAY KUBECONFIG DOCKER_HOST MANPATH INFOPATH HISTFILE TMPDIR " +
    // Bash evaluates their values as arithmetic, which runs a command substitution in a subscript.
    "RANDOM SRANDOM SECONDS LINENO HISTCMD HISTSIZE HISTFILESIZE OPTIND FUNCNEST"
  ).split(" "),
)
const beginnings =
  /^(LD_|DYLD_|GIT_|BASH_|NODE_(?!ENV$)|NPM_CONFIG_|npm_config_|YARN_|PNPM_|BUN_|DENO_|PYTHON|PIP_|UV_|PERL|RUBY|GEM_|BUNDLE_|CARGO_|RUSTUP_|GO(?!OGLE)|CGO_|JAVA_|_JAVA|JDK_|MAVEN_|GRADLE_|SSH_|GPG_|GNUPG|XDG_|LUA_|PHP_|R_|TAR_|GREP_|RIPGREP_|FZF_|JQ_|CMAKE_|PKG_CONFIG|AWS_|KUBE|DOCKER_|COMPOSE_|TF_|ANSIBLE_|EDITOR)/
const endings =
  /(PATH|OPTIONS|OPTS|OPT|FLAGS|ARGS|PAGER|EDITOR|SHELL|CONFIG|CONFIG_FILE|RC|PROXY|proxy|CMD|COMMAND|PROGRAM|ASKPASS|LOADER|PRELOAD|LIB|LIBRARY|INIT|STARTUP|WRAPPER|HOOK|HOOKS|EXEC|PLUGIN|PLUGINS|COMPILER|LINKER|RUNNER|_BIN|_DIR|_HOME|_ROOT)$/

/** Whether setting the variable could make a command run something other than the program that it names. */
export function changesWhatRuns(name: string): boolean {
  return names.has(name) || beginnings.test(name) || endings.test(name)
}
