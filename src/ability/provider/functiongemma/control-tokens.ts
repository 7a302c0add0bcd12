// The control tokens of FunctionGemma's format. Texts of people, files and tools may contain them too and must not act as
// tokens: there each gets a backslash, which is removed again from the model's output.

export const tokens = {
  startTurn: "<start_of_turn>",
  endTurn: "<end_of_turn>",
  startDeclaration: "<start_function_declaration>",
  endDeclaration: "<end_function_declaration>",
  startCall: "<start_function_call>",
  endCall: "<end_function_call>",
  startResponse: "<start_function_response>",
  endResponse: "<end_function_response>",
  escape: "<escape>",
} as const

/** The model stops here, because the next text is ours. */
export const stops: readonly string[] = [tokens.endTurn, tokens.startResponse]

/** The control tokens of all Gemma models, and those above. */
const names =
  "bos|eos|pad|unk|mask|unused\\d+|escape|(?:start|end)_(?:of_(?:turn|image)|function_(?:declaration|call|response))|image_soft_token"
const plain = new RegExp(`<(\\\\*(?:${names})>)`, "g")
const marked = new RegExp(`<\\\\(\\\\*(?:${names})>)`, "g")

/** Escapes the control tokens in a text. */
export function neutralize(text: string): string {
  return text.includes("<") ? text.replace(plain, "<\\$1") : text
}

/** Removes the escapes that `neutralize` added. */
export function restore(text: string): string {
  return text.includes("<\\") ? text.replace(marked, "<$1") : text
}
