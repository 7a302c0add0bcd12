// Finds commands nested in a command, so that a denied command stays denied inside sudo, xargs or bash -c. It may find
// too many, because its results are only used for denials.
import { splitCommand } from "./split-command.ts"
import { programOf } from "./unwrap.ts"

/** Parses texts as scripts, and returns their commands. */
type Scripts = (texts: string[]) => string[][]

const list = (text: string) => text.split(" ")
/** Programs that run the command after their own operands, and the number of these operands. */
const prefixes: Record<string, number> = {
  ...none(
    "sudo doas env nohup nice ionice stdbuf setsid time command builtin exec xargs parallel watch strace ltrace unshare nsenter busybox toybox caffeinate proot fakeroot bwrap firejail npx bunx uvx script entr ssh unbuffer rlwrap systemd-run setpriv numactl prlimit pkexec run0 runcon xvfb-run dbus-run-session torify torsocks proxychains tini dumb-init eatmydata catchsegv watchexec hyperfine valgrind perf gdb cross-env dotenv",
  ),
  ...Object.fromEntries(
    list("timeout chroot flock taskset su runuser chrt gosu su-exec sg faketime setarch").map((name) => [
      name,
      1,
    ]),
  ),
}
/** `uv run pytest`, `npm exec tsc` */
const runners: Record<string, RegExp> = {
  ...Object.fromEntries(list("npm pnpm yarn bun").map((name) => [name, /^(exec|x|dlx)$/])),
  ...Object.fromEntries(
    list("uv poetry pipenv pdm hatch rye bundle mise asdf direnv conda").map((name) => [
      name,
      /^(run|exec|x)$/,
    ]),
  ),
}
/** Programs with subcommands, which are also found after options. */
const subcommanded = new Set(
  list(
    "git npm pnpm yarn docker podman kubectl helm terraform cargo go gh apt apt-get pip brew systemctl aws gcloud",
  ),
)
const shells = new Set(list("sh bash dash zsh ksh ash fish rbash csh tcsh mksh yash"))
const readers = new Set(["eval", "trap"])
const keywords = new Set(
  "if then else elif fi for while until do done case esac in select function coproc time ! { } [[ ]]".split(
    " ",
  ),
)
const assignment = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/
/** A limit for hostile texts. */
const maxNested = 100
const maxGuesses = 10
const maxWords = 500
const maxPieces = 2_000

/** Returns a function that gives a command and those nested in it, each by its full and its plain name. Used for all
 * commands of a line, so that each text is parsed once. */
export function createNestedCommands(): (words: string[]) => string[][] {
  const known = new Map<string, string[][]>()

  function scripts(texts: string[]): string[][] {
    const some = [...new Set(texts)].slice(0, maxGuesses)
    for (const text of some) if (!known.has(text)) known.set(text, commandsIn(text))
    return some.flatMap((text) => known.get(text)!)
  }

  return (words) => {
    const found: string[][] = []
    const waiting = [words.slice(0, maxWords)]
    for (let next = waiting.pop(); next && found.length < maxNested; next = waiting.pop()) {
      const [name = "", ...args] = next
      const program = programOf(name)
      found.push(next)
      if (program !== name && program !== "") found.push([program, ...args])
      for (const inner of inside({ program, args, scripts })) waiting.push(inner.slice(0, maxWords))
    }
    return found
  }
}

/** The commands in a text, each as words, without their prefixes. */
export function pieces(command: string): string[][] {
  const found: string[][] = []
  for (const text of command.split(/[;&|\n\r(){}`<>]|\$\(/, maxPieces)) {
    const words = text
      .replace(/["'\\]|\$(?=["'])/g, "")
      .split(/[\s\0]+/)
      .filter(Boolean)
    const start = words.findIndex((word) => !keywords.has(word) && !assignment.test(word))
    if (start >= 0) found.push(words.slice(start))
  }
  return found
}

function inside({
  program,
  args,
  scripts,
}: {
  program: string
  args: string[]
  scripts: Scripts
}): string[][] {
  const operands = args.filter((arg) => !arg.startsWith("-"))
  if (readers.has(program)) return scripts([...args, args.join(" ")])
  // The text of -c is one word, or several if quotes were removed without knowing what they grouped.
  if (shells.has(program)) return scripts([...operands, operands.join(" ")])
  const more = /^(find|fd|fdfind|git|rg|tar)$/.test(program) ? afterOption(args, scripts) : []
  if (subcommanded.has(program) && args[0]?.startsWith("-"))
    more.push(...afterPrefix(args, 0).map((rest) => [program, ...rest]))
  if (Object.hasOwn(runners, program) && runners[program]!.test(operands[0] ?? ""))
    more.push(...afterPrefix(args.slice(args.indexOf(operands[0]!) + 1), 1))
  const own = Object.hasOwn(prefixes, program) ? prefixes[program]! : undefined
  if (own === undefined) return more
  if (/^(env|su|runuser|ssh|script|flock|watch|sg|entr|parallel|hyperfine|unshare|nsenter)$/.test(program))
    more.push(...scripts([...operands, operands.join(" "), ...values(args)]))
  const inner = afterPrefix(args, own)
  // Arguments that are read from input come after the command.
  if (program === "xargs" || program === "parallel") more.push(...inner.map((words) => [...words, ""]))
  return [...inner, ...more]
}

function none(names: string): Record<string, number> {
  return Object.fromEntries(list(names).map((name) => [name, 0]))
}

/** The commands of a text, both as the shell parses it and split by blanks. */
function commandsIn(text: string): string[][] {
  const { commands } = splitCommand(text)
  return [
    ...commands.slice(0, maxNested).map(({ words }) => words.map((word) => word.text)),
    ...pieces(text).slice(0, maxNested),
  ]
}

function values(args: string[]): string[] {
  return args.flatMap((arg) => /^--?[\w-]+=(.+)/s.exec(arg)?.[1] ?? /^-[a-zA-Z](.+)/s.exec(arg)?.[1] ?? [])
}

/** It is unknown which options take a value, so the word after one may or may not be the command. */
function afterPrefix(args: string[], operands: number): string[][] {
  const found: string[][] = []
  let left = operands
  for (const [i, arg] of args.entries()) {
    if (arg.startsWith("-") || /^[^\s/=]+=/.test(arg)) continue
    found.push(args.slice(i))
    const mayBeValue = i > 0 && args[i - 1]!.startsWith("-")
    if ((!mayBeValue && left-- <= 0) || found.length >= maxGuesses) break
  }
  return found
}

/** `find . -exec rm {} ;` */
function afterOption(args: string[], scripts: Scripts): string[][] {
  return args
    .flatMap((arg, i) => {
      if (/^-(exec|execdir|ok|okdir|x|X)$|^--exec(-batch)?$|^(foreach|run)$/.test(arg))
        return [args.slice(i + 1)]
      const value = /^--(?:exec|exec-batch|pre|to-command|upload-pack|use-compress-program)=(.+)/s.exec(
        arg,
      )?.[1]
      return value ? scripts([value]) : []
    })
    .slice(0, maxGuesses)
}
