// Reads the output of a model as it streams. Text is passed on at once, unless it may be the start of a control token; from the
// first control token on everything is kept, because only the whole shows whether it is a call.
import { restore } from "./control-tokens.ts"
import { type OutputPart, parseFunctionCalls } from "./parse-function-calls.ts"

export type OutputReader = Readonly<{
  /** Text that can be passed on now. */
  add(piece: string): string
  /** The rest, at the end. */
  end(): OutputPart[]
}>

const token = /<(?:escape|eos|(?:start|end)_(?:of_turn|function_(?:call|response)))>/
const beginning = /<\\*[a-z_]{0,26}\d*$/

export function createOutputReader(): OutputReader {
  let whole = ""
  let held = ""
  let isText = true
  let said = 0

  function add(piece: string): string {
    whole += piece
    if (!isText) return ""
    held += piece
    const found = token.exec(held)
    if (found) isText = false
    const length = found?.index ?? beginning.exec(held)?.index ?? held.length
    const text = restore(held.slice(0, length))
    held = held.slice(length)
    said += text.length
    return text
  }

  function end(): OutputPart[] {
    const [first, ...rest] = parseFunctionCalls(whole).parts
    if (first?.type !== "text") return first ? [first, ...rest] : rest
    return [{ type: "text", text: first.text.slice(said) }, ...rest]
  }

  return Object.freeze({ add, end })
}
