// Whether an answer to a call of a tool says that the server has no such tool. The protocol has an error for it; many
// servers give a result with words instead.
import { Refused } from "#ability/mcp/server/errors.ts"
import type { MCPToolResult } from "#ability/mcp/server/types.ts"

const noMethod = -32_601
/** Of wrong arguments too: there the words tell. */
const invalidParams = -32_602
const words = /\b(unknown tool|no such tool|tool\b.{0,200}\b(not found|does not exist))/is
const maxRead = 500

/** A result, or a thrown error. */
export function meansUnknownTool(answer: unknown): boolean {
  if (answer instanceof Refused) {
    const { code } = answer.data
    return code === noMethod || (code === invalidParams && words.test(answer.message.slice(0, maxRead)))
  }
  const { isError, content: [first] = [] } = (answer ?? {}) as Partial<MCPToolResult>
  return isError === true && first?.type === "text" && words.test(first.text.slice(0, maxRead))
}
