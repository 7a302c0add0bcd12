// Parses the output of a FunctionGemma model: text, calls and malformed calls. Nothing is guessed: a call counts only if it is
// complete. The time is linear in the length of the output.
import { NamedError } from "#util/error.ts"
import { restore, tokens } from "./control-tokens.ts"
import { parseArguments } from "./parse-arguments.ts"

export type FunctionCall = { name: string; args: Record<string, unknown> }
export type OutputPart =
  | { type: "text"; text: string }
  | ({ type: "call" } & FunctionCall)
  | { type: "problem"; problem: InvalidCall }
export type Output = {
  /** All parts, in their order. */
  parts: OutputPart[]
  text: string
  calls: FunctionCall[]
  problems: InvalidCall[]
}

export class InvalidCall extends NamedError {
  /** The position of the error in the output, from 0. */
  readonly position: number
  /** The name of the function, if it could be read. */
  readonly functionName: string | undefined
  /** The text of the malformed call. */
  readonly source: string

  constructor(options: {
    reason: string
    position: number
    functionName?: string | undefined
    source: string
  }) {
    const { reason, position, functionName, source } = options
    super("FunctionGemma.InvalidCall", `The call breaks at position ${position}: ${reason}.`, options)
    this.position = position
    this.functionName = functionName
    this.source = source
  }
}

const prefix = /\s*call:([\w.:/@$-]+)\s*/y
const boundary = new RegExp(`${tokens.escape}|${tokens.startCall}|${tokens.endCall}`, "g")
/** Tokens that may stand between calls, and those that end the output. */
const inText = new RegExp(
  `${tokens.startCall}|${tokens.endCall}|${tokens.escape}|${tokens.endTurn}|${tokens.startResponse}|<eos>`,
  "g",
)

export function parseFunctionCalls(output: string): Output {
  const parts: OutputPart[] = []
  let at = 0
  while (at < output.length) {
    inText.lastIndex = at
    const found = inText.exec(output)
    addText(parts, output.slice(at, found?.index ?? output.length))
    if (!found || isEnd(found[0])) break
    const part = found[0] === tokens.startCall ? readCall(output, found.index) : stray(found)
    parts.push(part.part)
    at = part.end
  }
  return {
    parts,
    text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    calls: parts.flatMap((part) => (part.type === "call" ? [{ name: part.name, args: part.args }] : [])),
    problems: parts.flatMap((part) => (part.type === "problem" ? [part.problem] : [])),
  }
}

function isEnd(token: string): boolean {
  return token !== tokens.startCall && token !== tokens.endCall && token !== tokens.escape
}

function addText(parts: OutputPart[], text: string): void {
  if (text.trim()) parts.push({ type: "text", text: restore(text) })
}

function stray(found: RegExpExecArray): { part: OutputPart; end: number } {
  const [source] = found
  const problem = new InvalidCall({ reason: `${source} stands alone`, position: found.index, source })
  return { part: { type: "problem", problem }, end: found.index + source.length }
}

function readCall(output: string, start: number): { part: OutputPart; end: number } {
  prefix.lastIndex = start + tokens.startCall.length
  const name = prefix.exec(output)?.[1]
  if (name === undefined)
    return broken(output, { start, position: start + tokens.startCall.length, reason: "expected call:NAME" })
  const read = parseArguments(output, prefix.lastIndex)
  if ("reason" in read) return broken(output, { start, name, ...read })
  const end = closeOf(output, read.end)
  if (end === undefined)
    return broken(output, { start, name, position: read.end, reason: `expected ${tokens.endCall}` })
  return { part: { type: "call", name, args: read.args }, end }
}

/** The position after the end of a call. The end token may be missing at the end of the output or before the next call. */
function closeOf(output: string, from: number): number | undefined {
  let at = from
  while (/\s/.test(output.charAt(at))) at++
  if (output.startsWith(tokens.endCall, at)) return at + tokens.endCall.length
  const isOver = at === output.length || output.startsWith(tokens.startCall, at)
  return isOver || output.startsWith(tokens.endTurn, at) || output.startsWith(tokens.startResponse, at)
    ? at
    : undefined
}

function broken(
  output: string,
  options: { start: number; position: number; reason: string; name?: string },
): { part: OutputPart; end: number } {
  const { start, position, reason, name } = options
  const end = afterBroken(output, position)
  const problem = new InvalidCall({ reason, position, functionName: name, source: output.slice(start, end) })
  return { part: { type: "problem", problem }, end }
}

/** Where parsing continues after an error: at the next start token, or after the next end token, outside of strings. */
function afterBroken(output: string, from: number): number {
  boundary.lastIndex = from
  for (let found = boundary.exec(output); found; found = boundary.exec(output)) {
    if (found[0] === tokens.startCall) return found.index
    if (found[0] === tokens.endCall) return boundary.lastIndex
    const close = output.indexOf(tokens.escape, boundary.lastIndex)
    if (close < 0) break
    boundary.lastIndex = close + tokens.escape.length
  }
  return output.length
}
