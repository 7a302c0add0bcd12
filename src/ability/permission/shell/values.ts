// The values of a line's variables, as far as the line sets them. They decide whether "$x" can be an option, and
// whether an arithmetic evaluation of x can run a command, which it does if the value contains a subscript with a
// substitution.
import type { ParsedScript, SyntaxNode, Word, WordPart } from "unbash"
import { createHeld, createWord, type Held } from "./word.ts"

type Calculated = Word | Extract<SyntaxNode, { type: "ArithmeticWord" }>

/** Variables that the shell or the caller sets. */
const foreign =
  /^(\d+|[@*_]|PWD|OLDPWD|REPLY|MAPFILE|OPTARG|OPTIND|BASH.*|COMP_.*|COPROC|DIRSTACK|FUNCNAME|HIST.*|READLINE_.*|PROMPT.*)$/
/** How deep variables may refer to variables. Each level uses stack. */
const maxDepth = 50
const identifier = /(?<![\w$])[A-Za-z_]\w*/g

export function createValues() {
  const words = new Map<string, Word[]>()
  /** Variables whose values are unknown. */
  const unknown = new Set<string>()
  /** Variables whose final value is unclear, although its parts are known. */
  const vague = new Set<string>()
  const functions = new Set<string>()
  const calculations: Calculated[] = []
  const outputs: ParsedScript[] = []
  const resolved = new Map<string, Held | undefined>()
  let depth = 0

  const assign = (name: string, given: readonly Word[]): void => {
    const all = words.get(name)
    if (!all) words.set(name, [...given])
    else for (const word of given) all.push(word)
  }

  const known = (name: string): Held | undefined => {
    const all = words.get(name)
    if (!all || vague.has(name) || unknown.has(name) || foreign.test(name)) return undefined
    if (!resolved.has(name)) {
      if (depth >= maxDepth) return undefined
      depth++
      // Unknown until it is resolved, because a variable may refer to itself.
      resolved.set(name, undefined)
      resolved.set(name, createHeld(all.map((word) => createWord(word, known))))
      depth--
    }
    return resolved.get(name)
  }

  /** Whether everything that arithmetic evaluates is harmless. The variables that values refer to are followed, each
   * once. */
  const areNumbers = (): boolean => {
    const seen = new Set<string>()
    const waiting: string[] = []
    const take = (node: Calculated, isCalculated: boolean): boolean => {
      const found: string[] = []
      const isFine = collect(node, { names: found, isCalculated, functions })
      for (const name of found) if (!seen.has(name)) waiting.push(name)
      return isFine
    }
    if (!outputs.every((script) => givesNumber(script, functions))) return false
    if (!calculations.every((node) => take(node, true))) return false
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (seen.has(name)) continue
      seen.add(name)
      if (unknown.has(name) || foreign.test(name)) return false
      if (!(words.get(name) ?? []).every((word) => take(word, false))) return false
    }
    return true
  }

  return Object.freeze({
    known,
    areNumbers,
    calculates: () => calculations.length + outputs.length > 0,
    assign,
    setUnknown: (name: string) => unknown.add(name),
    blur: (name: string) => vague.add(name),
    define: (name: string) => functions.add(name),
    calculate: (node: Calculated) => calculations.push(node),
    calculateOutput: (script: ParsedScript) => outputs.push(script),
  })
}

type Into = { names: string[]; isCalculated: boolean; functions: Set<string> }

/** The names that a value refers to. False if it may contain a subscript with a command. */
function collect(node: Calculated, into: Into): boolean {
  if (node.parts) return node.parts.every((part) => collectPart(part, into))
  return collectText(node.value, into)
}

/** A subscript in the calculation itself is checked elsewhere; a value must not contain one. */
function collectText(text: string, { names, isCalculated }: Into): boolean {
  for (const [, name] of text.matchAll(/\$\{?([A-Za-z_]\w*)/g)) names.push(name!)
  names.push(...(text.match(identifier) ?? []))
  if (isCalculated) return !/['\\`]|\$(?![A-Za-z_{#?$!])|\$\{[^A-Za-z_]/.test(text)
  return !/[[`$]/.test(text)
}

function collectPart(part: WordPart, into: Into): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return collectText(part.value, into) && !(part.type !== "Literal" && /[$`]/.test(part.value))
    case "DoubleQuoted":
      return part.parts.every((child) => collectPart(child, into))
    case "BraceExpansion":
      return collectText(part.text, into)
    case "Glob":
      return into.isCalculated && (part.kind === "star" || collectText(part.text, into))
    case "ArithmeticExpansion":
      return true
    case "CommandExpansion":
      return part.script !== undefined && givesNumber(part.script, into.functions)
    case "SimpleExpansion":
      if (/^\$[#?$!]$/.test(part.text)) return true
      into.names.push(part.text.slice(1))
      return true
    case "ParameterExpansion": {
      if (part.prefix === "#") return true
      into.names.push(part.parameter)
      if (!part.operation) return true
      return part.operation.type === "Default" && collect(part.operation.operand, into)
    }
    default:
      return false
  }
}

/** Commands that print only digits. */
function givesNumber({ commands: [statement, ...more] }: ParsedScript, functions: Set<string>): boolean {
  let command: SyntaxNode | undefined = statement?.command
  if (command?.type === "Pipeline") command = command.commands.at(-1)
  if (more.length || command?.type !== "Command" || !command.name) return false
  const [name, ...args] = [command.name, ...command.args].map((word) =>
    word.type === "Word" ? createWord(word) : undefined,
  )
  if (!name?.isLiteral || functions.has(name.text) || !args.every((arg) => arg?.isLiteral)) return false
  const texts = args.map((arg) => arg!.text)
  if (name.text === "wc") return texts.every((text) => /^-[lwcm]+$/.test(text))
  if (name.text === "nproc") return texts.length === 0
  if (name.text === "date") return texts.length === 1 && /^\+(%[sYmdHMSjN])+$/.test(texts[0]!)
  return name.text === "seq" && texts.every((text) => /^-?\d+$/.test(text))
}
