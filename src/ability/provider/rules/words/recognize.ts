// Recognises what a word of a request is: a file, a folder, a glob, a file type, or an identifier in code.
import type { Token } from "./tokens.ts"

/** Files that people name without their extension, by the name in lower case. */
const namedFiles: Record<string, string> = {
  readme: "README.md",
  changelog: "CHANGELOG.md",
  license: "LICENSE",
  licence: "LICENSE",
  makefile: "Makefile",
  dockerfile: "Dockerfile",
  gemfile: "Gemfile",
  rakefile: "Rakefile",
  procfile: "Procfile",
  jenkinsfile: "Jenkinsfile",
  justfile: "Justfile",
  gitignore: ".gitignore",
  tsconfig: "tsconfig.json",
}

/** File extensions by the words for them. */
const kinds: Record<string, string> = {
  typescript: "ts",
  javascript: "js",
  python: "py",
  markdown: "md",
  rust: "rs",
  ruby: "rb",
  golang: "go",
  kotlin: "kt",
  shell: "sh",
  bash: "sh",
  text: "txt",
  "c++": "cpp",
  csharp: "cs",
  "c#": "cs",
  perl: "pl",
  stylesheet: "css",
  stylesheets: "css",
  image: "{png,jpg,jpeg,gif,svg,webp}",
  images: "{png,jpg,jpeg,gif,svg,webp}",
}
const endings = new Set(
  (
    "ts tsx js jsx mjs cjs mts cts json jsonc json5 md mdx txt py pyi rb rs go java kt kts swift c h cc cpp hpp cs php pl lua " +
    "sh bash zsh fish ps1 html htm css scss sass less vue svelte xml yml yaml toml ini cfg conf env lock log csv tsv sql " +
    "prisma rst adoc tex org patch diff bak orig sample example tmpl tpl hbs ejs pug styl coffee pem crt key sqlite db dat map snap feature plist gemspec podspec sbt properties mod sum service cmd vb pas asm wat wasm glsl frag vert thrift avsc " +
    "svg png jpg jpeg gif webp pdf proto graphql gql r jl ex exs erl hs ml scala clj dart zig nix tf gradle bat ipynb"
  ).split(" "),
)
const folders = new Set(
  (
    "src source lib libs test tests spec specs doc docs bin dist build out script scripts app apps package packages public " +
    "assets static config configs example examples bench benchmarks tools utils components pages api server client web " +
    "cmd internal pkg include node_modules vendor fixtures fixture styles types hooks services models controllers views " +
    "migrations data tmp logs resources templates core common shared modules plugins lang locales i18n e2e .github .vscode"
  ).split(" "),
)
/** Words that look like files but are not. */
const notFiles =
  /^(?:(?:node|next|vue|nuxt|express|react|three|d3|chart|moment|backbone|ember)\.js|asp\.net|\.net|(?:e\.g|i\.e|a\.k\.a|etc|vs)\.?|v?\d[\d.]*\w{0,2})$/i
const pair =
  /^(?:and|or|read|write|yes|no|on|off|true|false|he|she|his|her|input|output|client|tcp|ci|w|n|i)\/\w+$/i

/** Whether a word is a glob, such as `*.ts`. */
export function isGlob(text: string): boolean {
  if (!/[*?{[]/.test(text) || text.length > 300 || /[()"'<>|;=]/.test(text)) return false
  if (/^\*+$/.test(text) || /^\*\*?[A-Za-z]+\*\*?$/.test(text)) return text === "**"
  return (
    /\*/.test(text) || /^[\w./@-]*\{[\w.,*-]+\}[\w./*-]*$/.test(text) || /^[\w./-]*\?[\w.-]*\.\w+$/.test(text)
  )
}

/** Whether a word is spelled like a path. */
export function isPath(text: string): boolean {
  return isFile(text) || isFolder(text)
}

/** A name with the extension of a file, or a known file without one. */
export function isFile(text: string): boolean {
  if (text.length > 500 || folders.has(text) || notFiles.test(text) || isGlob(text)) return false
  const name = text.slice(Math.max(text.lastIndexOf("/"), isWindows(text) ? text.lastIndexOf("\\") : -1) + 1)
  if (/^\/etc\/\w+$/.test(text)) return true
  if (/^\.[A-Za-z][\w.-]*$/.test(name))
    return !(/^\.\w+$/.test(text) && endings.has(name.slice(1)) && name !== ".env")
  if (/^(?:README|LICENSE|LICENCE|CHANGELOG|AUTHORS|NOTICE|CODEOWNERS|VERSION|TODO)$/.test(name))
    return name !== "TODO" || text.includes("/")
  if (Object.hasOwn(namedFiles, name.toLowerCase()) && /^[A-Z]/.test(name)) return true
  const dot = name.lastIndexOf(".")
  if (dot < 1 || !/^[\w@.,+()[\]$~ -]+$/.test(name)) return false
  const ending = name.slice(dot + 1).toLowerCase()
  // `process.env` and `console.log` are code, although `.env` and `.log` are file extensions.
  if (/^(?:process\.env|console\.(?:log|error|warn|info)|import\.meta\.env|math\.log)$/i.test(name))
    return false
  return endings.has(ending) || (text.includes("/") && /^[a-z]\w{0,7}$/.test(ending))
}

/** Whether a path has backslashes: `C:\\Users\\me`, `src\\app.ts`, but not the pattern `\\bword\\b`. */
function isWindows(text: string): boolean {
  return (
    /^(?:[A-Za-z]:|\.{1,2}|[\w.@ +-]{2,})?\\(?:[\w.@() +-]+\\)*[\w.@() +-]*$/.test(text) &&
    !/^\\[bBdDsSwW]/.test(text)
  )
}

/** Whether a word is the usual name of a folder, such as "src". */
export function isKnownFolder(text: string): boolean {
  return folders.has(text)
}

export function isFolder(text: string): boolean {
  if (text.length > 500 || isGlob(text)) return false
  if (/^[A-Za-z]:\\/.test(text)) return isWindows(text) && !isFile(text)
  if (/^(?:\.{1,2}|~|\/)$/.test(text)) return true
  if (folders.has(text)) return true
  if (!text.includes("/") || pair.test(text) || /^[<(]|\/$.|^s\/.*\/.*\/[gi]*$/.test(text)) return false
  return /^[~.]?\/?[\w.@+ -]+(?:\/[\w.@+ -]+)*\/?$/.test(text) && !isFile(text)
}

/** `src/a.ts:10-20`, `a.ts#L5`, `a.ts:7`: the path and its lines. */
export function splitLines(text: string): { path: string; from?: number; to?: number } {
  const found = /^(.+?)(?::|#L|\(|:L)(\d{1,7})(?::\d{1,5}|[-–,.]{1,2}L?(\d{1,7}))?\)?$/.exec(
    text.slice(0, 600),
  )
  const owner = text.replace(/['’]s$/, "")
  if (!found || !isFile(found[1]!)) return { path: isFile(owner) ? owner : text }
  const [from, to] = [Number(found[2]), Number(found[3] ?? found[2])]
  return { path: found[1]!, from: Math.min(from, to), to: Math.max(from, to) }
}

/** The file that a bare name such as "readme" stands for. */
export function namedFile(token: Token | undefined): string | undefined {
  return token?.kind === "word" && Object.hasOwn(namedFiles, token.lower)
    ? namedFiles[token.lower]
    : undefined
}

/** `ts` for "typescript", "ts", ".ts" and "*.ts". */
export function kindOf(word: string): string | undefined {
  const plain = word.toLowerCase().replace(/^\*?\./, "")
  if (Object.hasOwn(kinds, plain)) return kinds[plain]
  if (endings.has(plain)) return plain
  return /^\*?\.[a-z]\w{0,9}(?:\.\w{1,9})?$/i.test(word) ? plain : undefined
}

/** Whether a word looks like code: camelCase, snake_case, a CONSTANT, a call, a member. */
export function isCode(text: string): boolean {
  if (text.length > 200) return false
  return (
    /^[a-z_$][\w$]*[A-Z_][\w$]*(?:\(\)?|\(\))?$/.test(text) ||
    /^[A-Z][A-Z0-9_]{2,}$/.test(text) ||
    /^[A-Z][a-z0-9]+[A-Z]\w*$/.test(text) ||
    /^[\w$]+(?:\.[\w$]+)+(?:\(.*\))?$/.test(text) ||
    /^[\w$.]+\(.*\)$/.test(text) ||
    /[_$@#=<>{}();]/.test(text)
  )
}
