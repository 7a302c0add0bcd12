// The content that a call would have written, computed from its arguments. After a crash it shows whether the file on
// disk is the work of that call.
import { readArguments } from "#ability/tool/read-arguments.ts"
import type { Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type * as Message from "#knowledge/message/message.ts"

/** Undefined for tools without `contentAfter`, and if the arguments do not apply to these bytes. */
export async function contentAfter(
  call: Message.Call,
  before: Buffer | undefined,
): Promise<Buffer | undefined> {
  const tool = ToolRegistry.find(call.name)
  if (!tool?.contentAfter) return undefined
  try {
    return tool.contentAfter(await readArguments(tool, { arguments: call.arguments as Json }), before)
  } catch {
    return undefined
  }
}
