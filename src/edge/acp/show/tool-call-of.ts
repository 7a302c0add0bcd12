// The call that a person is asked about, so that an editor shows what would happen.
import { readFileSync } from "node:fs"
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk"
import { argument, kindOf } from "#ability/call/describe-call.ts"
import type * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorCode } from "#util/error.ts"
import { openInside } from "#util/file/resolve-inside.ts"
import { firstLine } from "./markdown.ts"
import { block, requested } from "./tool-call.ts"
import { isPath } from "./tool-look.ts"
import { withoutSecrets } from "./without-secrets.ts"

const maxOld = 50_000
const maxTitle = 300

/** For a permission request: the call as it stands (kind, title, locations, diff, rawInput). */
export async function toolCallOf(request: Permission.Request): Promise<ToolCallUpdate> {
  const { messageId, preview } = request
  const call = await findCall(request)
  if (!call || !request.needs.length) return withoutSecrets(questionOf(request))
  const shown = requested(call, { messageId, directory: Instance.directory }, oldText(call))
  const change = shown.content?.length || !preview ? shown.content : [block(preview)]
  const content = [...taskOf(request), ...(change ?? [])]
  return withoutSecrets(content.length ? { ...shown, content } : shown)
}

/** Who asks, and what for, where an agent works for another one. */
function taskOf({ agent, task }: Permission.Request): ToolCallContent[] {
  return task ? [block(`${agent ? `${agent}, on a task` : "Task"}: ${firstLine(task, maxTitle)}`)] : []
}

/** A question that is not whether a call of the model may run: for an attachment, or whether to go on. It is shown as a
 * call of its own: one that is over must not seem to wait. */
export function questionOf(request: Permission.Request): ToolCall {
  const { id, tool, title, needs, preview } = request
  return {
    toolCallId: id,
    status: "pending",
    name: firstLine(tool),
    title: firstLine(title, maxTitle),
    kind: needs.length ? kindOf(tool) : "other",
    locations: needs.flatMap(fileOf),
    ...(preview ? { content: [block(preview)] } : {}),
  }
}

/** None for what a person attached: nobody called a tool for it. */
async function findCall(request: Permission.Request): Promise<Message.Call | undefined> {
  try {
    const message = await MessageStore.get(request.sessionId, request.messageId)
    if (message.type !== "tool_request") return undefined
    return message.data.calls.find(({ id }) => id === request.callId)
  } catch (error) {
    if (error instanceof Storage.NotFound) return undefined
    throw error
  }
}

/** What `write` would replace: null where there is nothing, undefined where it is no short text of the work tree. */
function oldText(call: Message.Call): string | null | undefined {
  const path = call.name === "write" ? argument(call, "path") : undefined
  if (typeof path !== "string" || !isPath(path)) return undefined
  try {
    using file = openInside(
      [Instance.worktree],
      `${path.startsWith("/") ? "" : `${Instance.directory}/`}${path}`,
    )
    if (!file.stat.isFile() || file.stat.size > maxOld) return undefined
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file.fd))
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : undefined
  }
}

function fileOf({ permission, target }: Permission.ShownNeed): { path: string }[] {
  return permission.startsWith("file.") && target.startsWith("/") ? [{ path: target }] : []
}
