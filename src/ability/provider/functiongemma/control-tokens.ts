// The words that FunctionGemma's language is made of. Texts of people, files and tools may have them too, and must not
// be taken for them: there each gets a backslash, which is taken away again from what the model says.

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

/** Where the model must stop, because the next text is ours. */
export const stops: readonly string[] = [tokens.endTurn, tokens.startResponse]

/** Those of every Gemma, with those above. */
const names =
  "bos|eos|pad|unk|mask|unused\\d+|escape|(?:start|end)_(?:of_(?:turn|image)|function_(?:declaration|call|response))|image_soft_token"
const plain = new RegExp(`<(\\\\*(?:${names})>)`, "g")
const marked = new RegExp(`<\\\\(\\\\*(?:${names})>)`, "g")

/** The same text without any control token in it. */
export function neutralize(text: string): string {
  return text.includes("<") ? text.replace(plain, "<\\$1") : text
}

/** What `neutralize` was given. */
export function restore(text: string): string {
  return text.includes("<\\") ? text.replace(marked, "<$1") : text
}
