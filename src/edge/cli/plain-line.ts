// Parses simple command lines from the same declarations as yargs. yargs takes half as long as the start of Node to
// load and parse `vitamin run "…"`. Anything unusual (help, errors, `--no-…`, a repeated option, odd numbers) is left
// to yargs.
import type { Argv } from "yargs"

type Spec = {
  type?: string
  alias?: string
  array?: boolean
  choices?: readonly unknown[]
  default?: unknown
  coerce?: (value: unknown) => unknown
}
type Values = Record<string, unknown>
type Build<T> = (yargs: Argv<T>) => unknown
type Command = { pattern: string; build: Build<never> | undefined; handler: Handler | undefined }
type Handler = (options: Values) => Promise<void>
type Found = { command: Command; words: string[]; declared: Declared }
type Declared = {
  commands: Map<string, Command>
  options: Map<string, Spec>
  positionals: Map<string, Spec>
  conflicts: [string, string][]
  isPlain: boolean
}

/** What this reader understands of a declaration. Lines of commands that declare more are left to yargs. */
const known = {
  option: "type alias array choices default coerce describe requiresArg nargs global".split(" "),
  positional: "type array choices describe demandOption".split(" "),
}
const number = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/

/** The parsed line; undefined if it is not simple. */
export function readPlainLine<T>(
  args: string[],
  shared: Record<string, Spec>,
  addCommands: Build<T>,
): { options: Values; handler: Handler } | undefined {
  const found = findCommand(args, declaredBy(addCommands))
  const handler = found?.command.handler
  if (!handler) return undefined
  const { command, words, declared } = found
  for (const [name, spec] of Object.entries(shared)) declared.options.set(name, spec)
  const given = readWords(args.slice(words.length), declared)
  // If `help` is the last word that is no option, yargs treats it as --help.
  const isPlain = given && given.words.at(-1) !== "help"
  const options = isPlain && valuesOf(given, command.pattern, declared)
  return options ? { options: { _: words, ...options }, handler } : undefined
}

/** The command that a line means, also one with mistakes: its words, its pattern, and the options that it takes. */
export function readMeant<T>(args: string[], shared: Record<string, Spec>, addCommands: Build<T>) {
  let declared = declaredBy(addCommands)
  const commands: string[] = []
  let pattern = ""
  const specOf = (word: string) => declared.options.get(word.slice(2)) ?? shared[word.slice(2)]
  for (const [at, word] of args.entries()) {
    const command = declared.commands.get(word)
    const isValue = (specOf(args[at - 1] ?? "")?.type ?? "boolean") !== "boolean"
    if (!command || isValue) continue
    commands.push(word)
    pattern = command.pattern
    declared = declaredBy(command.build ?? (() => {}))
  }
  return { commands, pattern, options: [...declared.options.keys(), ...Object.keys(shared)] }
}

function findCommand(args: string[], declared: Declared, words: string[] = []): Found | undefined {
  const command = declared.commands.get(args[words.length] ?? "")
  if (!command) return undefined
  const own = declaredBy(command.build ?? (() => {}))
  const path = [...words, args[words.length]!]
  if (!own.isPlain) return undefined
  return own.commands.size ? findCommand(args, own, path) : { command, words: path, declared: own }
}

/** Calls `build` with an object that records the declarations instead of yargs. */
function declaredBy<T>(build: Build<T>): Declared {
  const declared: Declared = {
    commands: new Map(),
    options: new Map(),
    positionals: new Map(),
    conflicts: [],
    isPlain: true,
  }
  const methods: Record<string, (...args: never[]) => void> = {
    command(pattern: string, _: string, build?: Build<never>, handler?: Handler) {
      declared.commands.set(pattern.split(" ", 1)[0]!, { pattern, build, handler })
    },
    option(name: string, spec: Spec) {
      declared.options.set(name, spec)
      keepToKnown(spec, "option")
    },
    positional(name: string, spec: Spec) {
      declared.positionals.set(name, spec)
      keepToKnown(spec, "positional")
    },
    conflicts(...names: [string, string]) {
      declared.conflicts.push(names)
      if (names.some((name) => typeof name !== "string")) declared.isPlain = false
    },
    implies: (name: string) => declared.conflicts.push([name, name]),
    demandCommand() {},
  }
  function keepToKnown(spec: Spec, kind: keyof typeof known): void {
    if (Object.keys(spec).some((key) => !known[kind].includes(key))) declared.isPlain = false
  }
  const yargs: object = new Proxy(methods, {
    get:
      (_, name) =>
      (...args: never[]) => {
        const method = methods[name as string]
        if (method) method(...args)
        else declared.isPlain = false
        return yargs
      },
  })
  build(yargs as Argv<T>)
  return declared
}

/** The words that are not options, and the options as written. */
function readWords(args: string[], { options, conflicts }: Declared) {
  const letters = new Map([...options].flatMap(([name, { alias }]) => (alias ? [[alias, name]] : [])))
  const words: string[] = []
  const values: Values = {}
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    if (isOdd(word)) return undefined
    if (!word.startsWith("-")) {
      words.push(word)
      continue
    }
    const name = word.startsWith("--") ? word.slice(2) : letters.get(word.slice(1))
    const spec = name === undefined ? undefined : options.get(name)
    const next = args[at + 1]
    if (!spec || name === undefined || (name in values && !spec.array)) return undefined
    if (spec.type === "boolean") {
      if (next === "true" || next === "false") return undefined
      values[name] = true
      continue
    }
    const value = next === undefined || next.startsWith("-") || isOdd(next) ? undefined : taken(next, spec)
    if (value === undefined) return undefined
    values[name] = spec.array ? [...((values[name] as unknown[]) ?? []), value] : value
    at++
  }
  return conflicts.some((names) => names.every((name) => name in values)) ? undefined : { words, values }
}

/** Whether yargs must read the word: yargs removes quotes. */
function isOdd(word: string): boolean {
  return word === "" || /^["']/.test(word)
}

function taken(word: string, { type, choices }: Spec): unknown {
  if (choices) return choices.includes(word) ? word : undefined
  if (type === "string") return word
  return type === "number" && number.test(word) ? Number(word) : undefined
}

/** The options as a handler gets them: under every name that yargs would use. */
function valuesOf(
  given: { words: string[]; values: Values },
  pattern: string,
  { options, positionals }: Declared,
): Values | undefined {
  const words = [...given.words]
  const result: Values = {}
  for (const place of pattern.split(" ").slice(1)) {
    const [, sign, name, many] = /^([<[])(\w+)(\.\.)?[>\]]$/.exec(place) ?? []
    const spec = positionals.get(name!)
    const own = many ? words.splice(0) : words.splice(0, 1)
    const values = own.map((word) => (spec ? taken(word, spec) : undefined))
    if (values.includes(undefined) || (sign === "<" && !values.length)) return undefined
    if (many || values.length) result[name!] = many ? values : values[0]
  }
  if (words.length) return undefined
  for (const [name, spec] of options) {
    const value = name in given.values ? given.values[name] : spec.default
    if (value === undefined) continue
    const final = coerced(value, spec)
    if (final === undefined) return undefined
    for (const one of [name, camelCase(name), spec.alias]) if (one) result[one] = final
  }
  return result
}

/** Undefined for a value that the command refuses: yargs then reports it with the help of the command. */
function coerced(value: unknown, { coerce }: Spec): unknown {
  try {
    return coerce ? coerce(value) : value
  } catch {
    return undefined
  }
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
