// What a call was to write, by its arguments: after a crash this proves whose the file is that is there now.
import { readArguments } from "#ability/tool/read-arguments.ts"
import type { Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type * as Message from "#knowledge/message/message.ts"

/** Undefined for tools that do not tell, and for arguments that do not fit the bytes. */
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
