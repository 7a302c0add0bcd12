// Walks the syntax tree of a line and collects its commands, the values of its variables, and what makes it unclear.
import type { ParsedScript, SyntaxNode } from "unbash"
import type { createDeclaredLists } from "./declared-lists.ts"
import { forEachChild } from "./parse-shell.ts"
import type { HereDocument } from "./split-command.ts"
import type { createValues } from "./values.ts"
import { changesWhatRuns } from "./variables.ts"

type Node<T extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: T }>
export type Command = Node<"Command">

export type Found = {
  /** Commands in order, and where a variable that decides what runs is set. */
  nodes: (Command | Node<"Redirected"> | "sets")[]
  hereDocuments: HereDocument[]
  lists: ReturnType<typeof createDeclaredLists>
  values: ReturnType<typeof createValues>
  /** The line passes texts back to the shell (`eval`), which sees the same variables. */
  rereads: boolean
  unclear?: string
}

type Waiting = { node: SyntaxNode; depth: number; isExpanded: boolean }

const maxDepth = 100
const maxNodes = 200_000
const comparing = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
/** Inside these, and in here-documents, single quotes may be ordinary characters. */
const expanding = new Set([
  "ParameterExpansion",
  "ArithmeticExpansion",
  "ArithmeticCommand",
  "ArithmeticFor",
  "ArithmeticWord",
])
/** Commands that set variables. */
const setters = new Set(
  "read mapfile readarray getopts printf declare typeset local export readonly wait unset".split(" "),
)
const rereaders = new Set(["eval", "source", ".", "trap"])

/** Uses its own stack, because a hostile line can be nested deeper than the call stack allows. */
export function walk(script: ParsedScript, found: Found): void {
  const waiting: Waiting[] = [{ node: script, depth: 0, isExpanded: false }]
  let nodes = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next
    if (depth > maxDepth || ++nodes > maxNodes) {
      found.unclear = "it is nested too deep"
      return
    }
    if (next.isExpanded && isQuotedExpansion(node))
      found.unclear ??= "it has quotes that bash may read as ordinary characters"
    visit(node, found)
    const isExpanded = node.type !== "Script" && (next.isExpanded || expanding.has(node.type))
    const before = waiting.length
    forEachChild(node, (child) => void waiting.push({ node: child, depth: depth + 1, isExpanded }))
    // Reversed, so that the first child is visited next.
    reverse(waiting, before)
  }
}

function reverse(list: unknown[], from: number): void {
  for (let a = from, b = list.length - 1; a < b; a++, b--) [list[a], list[b]] = [list[b], list[a]]
}

function visit(node: SyntaxNode, found: Found): void {
  switch (node.type) {
    case "Script":
      if (node.errors?.length) found.unclear ??= "it does not parse"
      break
    case "Command":
      found.nodes.push(node)
      visitCommand(node, found)
      break
    case "Redirected":
      found.nodes.push(node)
      break
    case "HereDoc":
      found.hereDocuments.push(node)
      break
    case "FileDescriptorVariable":
      if (/\W/.test(node.name)) found.unclear ??= "it has a subscript that is calculated"
      found.values.blur(node.name)
      break
    case "Assignment":
      visitAssignment(node, found)
      break
    case "For":
    case "Select":
      if (node.type === "For" && node.wordlist) found.values.assign(node.name.value, node.wordlist)
      else found.values.setUnknown(node.name.value)
      if (changesWhatRuns(node.name.value)) found.nodes.push("sets")
      break
    case "Coproc":
      if (node.name) found.lists.add(node.name.value)
      if (node.name && changesWhatRuns(node.name.value)) found.nodes.push("sets")
      break
    case "Function":
      found.values.define(node.name.value)
      break
    case "ParameterExpansion":
      visitParameter(node, found)
      break
    case "Word":
      if (!node.parts && isMisread(node.text)) found.unclear ??= "it has an expansion that cannot be read"
      if (node.text.includes("{") && hasLooseBraces(node))
        found.unclear ??= "it has braces that cannot be read"
      break
    case "Literal":
      if (isMisread(node.text)) found.unclear ??= "it has an expansion that cannot be read"
      break
    case "AnsiCQuoted":
      // Here bash and the parser differ.
      if (/\\[\nc]/.test(node.text)) found.unclear ??= "it has an escape that cannot be read"
      break
    case "ExtendedGlob":
      found.unclear ??= "it has an extended pattern, which depends on the shell option extglob"
      break
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      if (!node.script) found.unclear ??= "it has a substitution that does not parse"
      // Its positions are not those of the line, because backslashes were removed.
      else if (node.text.startsWith("`") && node.text.includes("<<"))
        found.unclear ??= "it has a here-document in backquotes"
      else if (node.type === "ArithmeticCommandExpansion") found.values.calculateOutput(node.script)
      break
    case "ArithmeticWord":
      if (!isNumber(node.value)) found.values.calculate(node)
      if (changesWhatRuns(node.value.trim())) found.nodes.push("sets")
      break
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
      if (!node.expression) found.unclear ??= "it has a calculation that does not parse"
      break
    case "TestUnary":
      // The operand of -v is a name with a subscript, and is evaluated.
      if (/^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.value))
        found.unclear ??= "it has a subscript that is calculated"
      break
    case "TestBinary":
      if (!comparing.has(node.operator)) break
      for (const word of [node.left, node.right]) if (!isNumber(word.value)) found.values.calculate(word)
      break
  }
}

function visitCommand({ name, args, prefix }: Command, found: Found): void {
  if (!name) return
  // Assignments before a command apply to this command only, and after its words were expanded.
  for (const item of prefix) if (item.type === "Assignment") found.values.blur(item.name)
  const words = [name.value, ...args.map((arg) => (arg.type === "Word" ? arg.value : ""))]
  const at = words.findIndex((word) => !/^(command|builtin|-p|--)$/.test(word))
  const program = words[at] ?? ""
  if (rereaders.has(program)) found.rereads = true
  found.lists.visit(program, args.slice(Math.max(at, 0)))
  if (!setters.has(program)) return
  for (const word of words.slice(at + 1)) {
    const given = /^(?:-v)?([A-Za-z_]\w*)/.exec(word)?.[1]
    if (given) found.values.setUnknown(given)
  }
}

function visitAssignment({ name, value, index, append }: Node<"Assignment">, found: Found): void {
  const { values, lists } = found
  if (index && !isNumber(index.value)) values.calculate(index)
  values.assign(name, value.type === "ArrayValue" ? value.elements : [value])
  if (index || append || value.type === "ArrayValue") values.blur(name)
  if (index || value.type === "ArrayValue") lists.add(name)
  if (value.type !== "ArrayValue") return
  for (const element of value.elements)
    if (element.value.startsWith("[") && !/^\[\d+\]=/.test(element.value)) values.calculate(element)
}

function visitParameter(
  { prefix, operation, index, parameter }: Node<"ParameterExpansion">,
  found: Found,
): void {
  if (prefix === "!" || operation?.type === "Transform" || operation?.type === "Unknown")
    found.unclear ??= "it has an expansion whose result may be expanded again"
  if (operation?.type === "Default" && operation.operator.endsWith("=")) {
    found.values.setUnknown(parameter)
    if (changesWhatRuns(parameter)) found.nodes.push("sets")
  }
  if (index && !/^[@*]$/.test(index.value) && !isNumber(index.value)) found.values.calculate(index)
  if (operation?.type !== "Slice") return
  for (const word of [operation.offset, operation.length])
    if (word && !isNumber(word.value)) found.values.calculate(word)
}

/** Whether bash would expand something in a literal text, because it removes line ends first. */
function isMisread(text: string): boolean {
  if (!/[$`]/.test(text)) return false
  return /\$(\\\n)*[\w({['"@*#?$!-]|`/.test(unescaped(text))
}

/** Whether braces are left that bash might still expand: it reads `{"a"},b}` as two words. */
function hasLooseBraces({ text, parts }: Node<"Word">): boolean {
  const shape = parts
    ? parts.map((part) => (part.type === "Literal" ? unescaped(part.text) : "x")).join("")
    : unescaped(text)
  const inside = shape.slice(shape.indexOf("{"), shape.lastIndexOf("}") + 1)
  return inside.includes(",") || inside.includes("..")
}

function unescaped(text: string): string {
  return text.replace(/\\[^\n]/g, "x")
}

function isNumber(text: string): boolean {
  return /^\s*-?(0[xX][\da-fA-F]+|\d+)\s*$/.test(text)
}

function isQuotedExpansion(node: SyntaxNode): boolean {
  return (node.type === "SingleQuoted" || node.type === "AnsiCQuoted") && /[$`]/.test(node.text.slice(1))
}
