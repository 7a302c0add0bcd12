// Finds commands of reading tools that run other programs or write files, by an option, a script, or an extra operand.
// A rule with a wildcard does not cover them.
import { isRiskyAwk } from "./risky-awk.ts"
import { isRiskyBuiltin } from "./risky-builtin.ts"
import { isRiskySed } from "./risky-sed.ts"
import type { SimpleCommand } from "./split-command.ts"
import { programOf } from "./unwrap.ts"
import type { ShellWord } from "./word.ts"

type Risky = {
  /** Letters of short options, also in a bundle. */
  short?: string
  /** Letters after which the rest of the word is a value. */
  valued?: string
  /** Long options; an abbreviation counts, because most programs accept it. */
  long?: string[]
  /** Exact words. */
  words?: string[]
  /** The most operands; the letters are those of options with a value. */
  operands?: { most: number; valued: string }
  /** Any other check. */
  other?: (args: ShellWord[]) => boolean
}

const gitOptions =
  "output output-directory exec-path config-env ext-diff textconv open-files-in-pager upload-pack receive-pack exec git-dir work-tree extcmd template upload-archive tool paginate filters export-marks in-place namespace super-prefix attr-source unsafe-paths".split(
    " ",
  )
/** Subcommands that run their arguments, or change what later commands run. */
const gitCommands =
  /^(config|difftool|mergetool|filter-branch|hook|daemon|instaweb|web--browse|help|remote-.*|credential.*|send-email|p4|svn|cvsserver|shell|upload-pack|receive-pack|archive|maintenance|http-backend|fast-import|gui|citool|sh-.*)$/

const list = (text: string) => text.split(" ")
const sed: Risky = { short: "if", valued: "e", long: ["in-place", "file"], other: isRiskySed }
const awk: Risky = { other: isRiskyAwk }
const tools: Record<string, Risky> = {
  find: { words: list("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from") },
  fd: { short: "xX", long: ["exec", "exec-batch"] },
  fdfind: { short: "xX", long: ["exec", "exec-batch"] },
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  sort: { short: "oT", valued: "ktS", long: ["output", "compress-program", "temporary-directory"] },
  shuf: { short: "o", long: ["output"] },
  iconv: { short: "o", long: ["output"] },
  uniq: { operands: { most: 1, valued: "fsw" } },
  xxd: { operands: { most: 1, valued: "cglnos" } },
  tree: { short: "oR", long: ["output"] },
  git: { other: isRiskyGit },
  rg: { short: "z", valued: "ABCEMTdefgjmrt", long: ["pre", "hostname-bin", "search-zip"] },
  ag: { long: ["pager"] },
  ack: { long: ["pager"] },
  tar: {
    short: "IFg",
    long: list(
      "to-command use-compress-program checkpoint-action info-script new-volume-script rsh-command rmt-command index-file volno-file listed-incremental",
    ),
    // An archive on another machine is fetched by a separate program.
    other: (args) =>
      /^[A-Za-z]*[IFg]/.test(args[0]?.text ?? "") ||
      args.some(({ text }) => /^(?:--file=)?[^/=]+:/.test(text)),
  },
  less: { short: "oOkt", long: list("log-file LOG-FILE lesskey-file tag"), other: hasPlus },
  more: { other: hasPlus },
  man: { short: "PHCTZ", long: list("pager html config-file troff-device ditroff gxditview") },
  bat: { long: ["pager"] },
  delta: { long: ["pager"] },
  yq: { short: "is", long: list("inplace in-place split-exp split-exp-file") },
  jq: { short: "L" },
  file: { short: "Cm", long: ["compile", "magic-file"] },
  date: { short: "s", long: ["set"] },
  hostname: { short: "F", operands: { most: 0, valued: "" } },
  dmesg: { short: "cCDEn", long: list("clear read-clear console-off console-on console-level") },
  journalctl: {
    long: list(
      "vacuum-size vacuum-time vacuum-files rotate flush sync cursor-file setup-keys update-catalog",
    ),
  },
  curl: {
    short: "oOKTDcJ",
    valued: "AbCdeEFHmPQrtuUwxXyYz",
    long: list(
      "output remote-name config upload-file dump-header output-dir cookie-jar trace trace-ascii stderr libcurl hsts alt-svc etag-save engine",
    ),
    other: (args) => args.some(({ text }) => text.includes("%output{")),
  },
  rsync: { short: "eM", long: list("rsh rsync-path remote-option log-file") },
  ssh: { short: "oFES", long: [] },
  zip: { short: "T", long: ["unzip-command"] },
  diff: { short: "l", valued: "xXIFUCW", long: ["output", "paginate"] },
  sdiff: { short: "o", long: ["output", "diff-program"] },
  diff3: { long: ["diff-program"] },
  xmllint: { short: "o", long: ["output", "shell"], words: ["-output", "-shell"] },
  tcpdump: { short: "wzGC" },
  ss: { short: "KDF", long: list("kill diag filter") },
  dc: { other: () => true },
  hg: { long: ["config"] },
  svn: { long: list("config-option config-dir diff-cmd editor-cmd") },
}

/** Options of git whose value is text for people; in other subcommands these letters have no value. */
const takesText: [subcommand: RegExp, option: RegExp][] = [
  [/^(commit|tag|merge|stash|notes)$/, /^(-[a-z]*m|--message|--author|--date)$/],
  [/^(log|diff|show)$/, /^(--grep|--author|-S|-G)$/],
]

/** Whether a command does more than its name says. */
export function isRisky(command: SimpleCommand): boolean {
  const [name, ...args] = command.words
  const program = programOf(name?.text ?? "")
  const texts = args.map(({ text }) => text)
  if (isRiskyBuiltin(program, args)) return true
  const risky = Object.hasOwn(tools, program) ? tools[program] : undefined
  if (!risky) return false
  // An expansion may produce an option, unless a value is expected at its position.
  const over = program === "find" ? -1 : texts.indexOf("--")
  const isValue = (i: number) =>
    (over >= 0 && i > over) || (program === "git" && !args[i]!.isMany && isText(texts, i))
  if (args.some((arg, i) => arg.mayBeOption && !isValue(i))) return true
  const isDiscarding = (i: number) =>
    program === "curl" && /^-[sSfLkgv]*o$/.test(texts[i]!) && texts[i + 1] === "/dev/null"
  if (texts.some((text, i) => isRiskyWord(risky, text) && !isDiscarding(i))) return true
  if (risky.operands && args.some(({ isMany }) => isMany)) return true
  if (risky.operands && operands(texts, risky.operands.valued) > risky.operands.most) return true
  return risky.other?.(args) ?? false
}

function isRiskyWord({ short = "", valued = "", long = [], words = [] }: Risky, text: string): boolean {
  if (words.includes(text)) return true
  if (text.startsWith("--")) {
    const name = text.slice(2).split("=", 1)[0]!
    return name !== "" && long.some((option) => option.startsWith(name))
  }
  if (!text.startsWith("-")) return false
  for (const letter of text.slice(1)) {
    if (short.includes(letter)) return true
    if (valued.includes(letter)) return false
  }
  return false
}

function isText(texts: string[], at: number): boolean {
  const subcommand = texts.find((text) => !text.startsWith("-")) ?? ""
  return takesText.some(([name, option]) => name.test(subcommand) && option.test(texts[at - 1] ?? ""))
}

function operands(args: string[], valued: string): number {
  let count = 0
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === "--") return count + args.length - i - 1
    if (!arg.startsWith("-") || arg === "-") count++
    else if (/^-.$/.test(arg) && valued.includes(arg[1]!)) i++
  }
  return count
}

function hasPlus(args: ShellWord[]): boolean {
  return args.some(({ text }) => text.startsWith("+"))
}

/** Options and subcommands of git that run programs, write files or change what later commands run. `git log -5` is
 * harmless; options before the subcommand and a few after it are not. */
function isRiskyGit(words: ShellWord[]): boolean {
  const args = words.map(({ text }) => text)
  const at = args.findIndex((arg) => !arg.startsWith("-"))
  const before = at < 0 ? args : args.slice(0, at)
  if (before.some((arg) => /^-[^-]/.test(arg) && arg !== "-P" && arg !== "-v" && arg !== "-h")) return true
  const [subcommand = "", ...rest] = at < 0 ? [] : args.slice(at)
  const options = [...before, ...rest]
  if (gitCommands.test(subcommand) || options.some((arg) => /^ext::|^[\w+.-]+::/.test(arg))) return true
  if (options.some(isGitOption)) return true
  if (subcommand === "submodule" || subcommand === "bisect")
    return rest.some((arg) => arg === "foreach" || arg === "run")
  if (subcommand === "grep") return rest.some((arg) => /^-\w*O/.test(arg))
  if (subcommand === "rebase") return rest.some((arg) => /^-\w*[xi]/.test(arg) || arg === "--interactive")
  if (subcommand === "clone" || subcommand === "fetch" || subcommand === "ls-remote")
    return rest.some((arg) => /^-\w*[uc]/.test(arg))
  return /^(format-patch|bundle|diff|log|show)$/.test(subcommand) && rest.some((arg) => /^-o/.test(arg))
}

function isGitOption(arg: string): boolean {
  if (!arg.startsWith("--")) return false
  const name = arg.slice(2).split("=", 1)[0]!
  return name.length > 1 && gitOptions.some((option) => option.startsWith(name))
}
