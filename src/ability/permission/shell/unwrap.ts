// Finds the command that a wrapper such as `sudo` or `xargs` runs. The wrapper is allowed if that command is. With an
// unknown option it is unclear what would run.
import { posix } from "node:path"
import { type SimpleCommand, splitCommand } from "./split-command.ts"
import { changesWhatRuns } from "./variables.ts"
import { createHole, type ShellWord } from "./word.ts"

type Wrapper = {
  /** Letters of options without a value. */
  flags?: string
  /** Letters of options whose value is the rest of the word, or the next one. */
  valued?: string
  /** Letters of options whose value, if any, is the rest of the word. */
  optional?: string
  /** Long options: without a value, and with one. */
  long?: string[]
  longValued?: string[]
  /** The number of operands before the command. */
  operands?: number
  /** Assignments of variables may come before the command. */
  variables?: boolean
}

type Inside = SimpleCommand[] | "unknown" | undefined

/** The most levels of commands within commands. */
export const maxInside = 8
const list = (text: string) => text.split(" ")
const wrappers: Record<string, Wrapper> = {
  sudo: {
    flags: "AbBEHknNPS",
    valued: "CgpTu",
    long: list(
      "askpass background bell preserve-env set-home reset-timestamp no-update non-interactive preserve-groups stdin",
    ),
    longValued: list("close-from group prompt command-timeout user"),
    variables: true,
  },
  doas: { flags: "nL", valued: "u" },
  // Without the environment (-i, -u) git would obey the configuration of an untrusted folder.
  env: {
    flags: "0v",
    valued: "C",
    long: list("null debug"),
    longValued: ["chdir"],
    variables: true,
  },
  timeout: {
    flags: "fpv",
    valued: "ks",
    long: list("foreground preserve-status verbose"),
    longValued: list("kill-after signal"),
    operands: 1,
  },
  nohup: {},
  nice: { valued: "n", longValued: ["adjustment"], flags: "0123456789" },
  ionice: { flags: "t", valued: "cn", longValued: list("class classdata"), long: ["ignore"] },
  stdbuf: { valued: "ioe", longValued: list("input output error") },
  setsid: { flags: "cfw", long: list("ctty fork wait") },
  time: { flags: "pv", valued: "f", long: list("portability verbose"), longValued: ["format"] },
  builtin: {},
  command: { flags: "p" },
  exec: { flags: "cl", valued: "a" },
  xargs: {
    flags: "0oprtx",
    valued: "ILnPsdEa",
    optional: "ile",
    long: list("null open-tty interactive no-run-if-empty verbose exit show-limits"),
    longValued: list("max-args max-procs max-chars delimiter arg-file"),
  },
  busybox: {},
  toybox: {},
  taskset: { flags: "a", operands: 1 },
}
const shells = new Set(list("sh bash dash zsh ksh ash"))
/** Syntax of bash that a plain shell reads differently: there `[[ a || b ]]` and `((b))` run b. */
const onlyBash = /(?<!\$)\(\(|\[\[|\$['"[]|[<>]\(|<<<|&>|\|&|;&|=\(|\beval\b/
/** Shells with another language. */
const foreign = new Set(["zsh", "ksh"])
/** Their words do not tell what they run, or where. */
const readers = new Set(
  list(
    ". source trap su runuser parallel script strace ltrace unshare nsenter chroot flock chrt setpriv setarch linux32 linux64 numactl prlimit systemd-run firejail bwrap proot fakeroot faketime unbuffer rlwrap expect entr watchexec gosu su-exec pkexec run0 runcon sg dbus-run-session xvfb-run torify torsocks proxychains tini dumb-init eatmydata catchsegv rbash csh tcsh fish yash mksh pwsh",
  ),
)

/** A cache, because results are needed often and may require parsing. */
const known = new WeakMap<SimpleCommand, NonNullable<Inside>>()

/** What a command would run: undefined if it is no wrapper, "unknown" if it is unclear. */
export function unwrap(command: SimpleCommand): Inside {
  const before = known.get(command)
  if (before) return before
  const inside = insideOf(command)
  if (inside) known.set(command, inside)
  return inside
}

function insideOf({ words }: SimpleCommand): Inside {
  const [name, ...args] = words
  const program = name ? programOf(name.text) : ""
  if (shells.has(program)) return insideShell(args, program)
  if (program === "eval") return insideText(args)
  if (program === "watch") return insideWatch(args)
  if (readers.has(program)) return "unknown"
  const wrapper = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined
  if (!wrapper) return undefined
  if (program === "command" && /^-p?[vV]$/.test(args[0]?.text ?? "")) return []
  // Redirections for the rest of the line.
  if (program === "exec" && args.length === 0) return []
  const inside = insideWrapper(wrapper, args)
  return program === "xargs" && inside !== "unknown" ? filled(inside, args) : inside
}

/** The commands and those nested in them, at any depth. */
export function reach(commands: SimpleCommand[], depth = 0): SimpleCommand[] {
  if (depth > maxInside) return commands
  return commands.flatMap((command) => {
    const inside = unwrap(command)
    return Array.isArray(inside) ? [command, ...reach(inside, depth + 1)] : [command]
  })
}

/** A program is known by its name, wherever it is. */
export function programOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1)
}

function insideWrapper(wrapper: Wrapper, args: ShellWord[]): SimpleCommand[] | "unknown" {
  let left = wrapper.operands ?? 0
  let sets = false
  let isOver = false
  for (let i = 0; i < args.length; i++) {
    const { text, isLiteral } = args[i]!
    if (!isLiteral) return "unknown"
    if (!isOver && text === "--") isOver = true
    else if (!isOver && text.startsWith("-")) {
      const used = optionsOf(wrapper, text)
      if (used === undefined) return "unknown"
      i += used
    } else if (wrapper.variables && text.includes("=")) {
      if (!/^\w+=/.test(text)) return "unknown"
      sets ||= changesWhatRuns(text.slice(0, text.indexOf("=")))
      isOver = true
    } else if (left-- <= 0) return commandOf(args.slice(i), sets)
    else isOver = true
  }
  return "unknown"
}

/** How many of the next words are the value of an option; undefined for an unknown option. */
function optionsOf(wrapper: Wrapper, text: string): number | undefined {
  const { flags = "", valued = "", optional = "", long = [], longValued = [] } = wrapper
  if (text.startsWith("--")) {
    const [name = "", ...value] = text.slice(2).split("=")
    if (long.includes(name)) return value.length ? undefined : 0
    return longValued.includes(name) ? (value.length ? 0 : 1) : undefined
  }
  for (const [i, letter] of [...text].entries()) {
    if (i === 0) continue
    if (valued.includes(letter)) return i === text.length - 1 ? 1 : 0
    if (optional.includes(letter)) return 0
    if (!flags.includes(letter)) return undefined
  }
  return text === "-" ? undefined : 0
}

function commandOf(words: ShellWord[], sets: boolean): SimpleCommand[] | "unknown" {
  if (!words.length) return "unknown"
  return [{ words, text: words.map(({ text }) => text).join(" "), writes: false, sets }]
}

/** xargs replaces a mark such as `{}` by its input, or appends the input. */
function filled(commands: SimpleCommand[], args: ShellWord[]): SimpleCommand[] {
  const own = args.slice(0, args.length - commands[0]!.words.length).map(({ text }) => text)
  const marks = own.flatMap((text, i) => /^-\w*?[Ii](.*)$/s.exec(text)?.[1] || (own[i + 1] ?? "{}"))
  const replaces = own.some((text) => /^-\w*?[Ii]/.test(text))
  return commands.map((command) => {
    const words = replaces
      ? command.words.map((word) => (isMarked(word, marks) ? createHole(word.text) : word))
      : [...command.words, createHole("")]
    return { ...command, words }
  })
}

function isMarked({ text }: ShellWord, marks: string[]): boolean {
  return text.includes("{}") || marks.some((mark) => mark !== "" && text.includes(mark))
}

/** Parses the text of `-c`. A script file is treated as any other program. */
function insideShell(args: ShellWord[], program: string): Inside {
  const at = args.findIndex(({ text }) => !/^[-+]/.test(text))
  if (at === 0) return args[0]!.isLiteral && !isDevice(args[0]!.text) ? undefined : "unknown"
  const options = at < 0 ? args : args.slice(0, at)
  if (at < 0 || options.some(({ text, isLiteral }) => !isLiteral || !/^-[elux]*c?$/.test(text)))
    return "unknown"
  if (!options.at(-1)!.text.endsWith("c") || foreign.has(program)) return "unknown"
  return program === "bash" || !onlyBash.test(args[at]!.text) ? insideText(args.slice(at, at + 1)) : "unknown"
}

/** `watch` passes all its words to a shell, as one text. */
function insideWatch(args: ShellWord[]): SimpleCommand[] | "unknown" {
  const watch: Wrapper = { flags: "bcdegtw", valued: "n", longValued: ["interval"] }
  const inside = insideWrapper(watch, args)
  if (inside === "unknown" || onlyBash.test(inside[0]!.text)) return "unknown"
  return insideText(inside[0]!.words)
}

/** The text must not do arithmetic with variables, because the line around it may have set them. */
function insideText(words: ShellWord[]): SimpleCommand[] | "unknown" {
  if (!words.length || words.some(({ isLiteral }) => !isLiteral)) return "unknown"
  const { commands, unclear, calculates } = splitCommand(words.map(({ text }) => text).join(" "))
  return unclear === undefined && !calculates ? commands : "unknown"
}

/** `/dev/stdin` and `/dev/fd/3` are no scripts. `/dev/shm` has ordinary files. */
function isDevice(path: string): boolean {
  return /^\/+dev\/(?!shm\/)/.test(posix.normalize(path))
}
