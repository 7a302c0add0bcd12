// The tool call of a permission request, so that an editor shows what the call would do.
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { ToolCall, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk"
import type * as Permission from "#ability/permission/permission.ts"
import { argument, kindOf } from "#client/describe-call.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorCode } from "#util/error.ts"
import { openInside } from "#util/file/resolve-inside.ts"
import { isPath } from "./call-title.ts"
import { firstLine } from "./markdown.ts"
import { block, requested } from "./tool-call.ts"
import { withoutSecrets } from "./without-secrets.ts"

const maxOld = 50_000
const maxTitle = 300

/** The text of a file in the editor, by its absolute path. */
type ReadText = (path: string) => Promise<string | undefined> | undefined

/** The call with kind, title, locations, diff and rawInput. */
export async function toolCallOf(
  request: Permission.Request,
  readText: ReadText = () => undefined,
): Promise<ToolCallUpdate> {
  const { messageId, preview } = request
  const call = await findCall(request)
  if (!call || !request.needs.length) return withoutSecrets(questionOf(request))
  const shown = requested(call, { messageId, directory: Instance.directory }, await oldText(call, readText))
  const change = shown.content?.length || !preview ? shown.content : [block(preview)]
  const content = [...taskOf(request), ...(change ?? [])]
  return withoutSecrets(content.length ? { ...shown, content } : shown)
}

/** The agent and its task, if the request comes from a subtask. */
function taskOf({ agent, task }: Permission.Request): ToolCallContent[] {
  return task ? [block(`${agent ? `${agent}, on a task` : "Task"}: ${firstLine(task, maxTitle)}`)] : []
}

/** A question that is not about a call of the model: whether a file may be attached, or whether to continue. It is shown
 * as a call of its own, since a call that is finished must not appear to wait. */
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

/** Undefined for an attachment of the person, which has no tool call. */
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

/** The text that `write` would replace: null if there is no file, undefined if the file is not a short text inside the
 * work tree. */
async function oldText(call: Message.Call, readText: ReadText): Promise<string | null | undefined> {
  const path = call.name === "write" ? argument(call, "path") : undefined
  if (typeof path !== "string" || !isPath(path)) return undefined
  const absolute = `${path.startsWith("/") ? "" : `${Instance.directory}/`}${path}`
  const onDisk = textOnDisk(absolute)
  if (typeof onDisk !== "string") return onDisk
  const inEditor = await readText(resolve(absolute))
  return inEditor === undefined || inEditor.length > maxOld ? onDisk : inEditor
}

function textOnDisk(path: string): string | null | undefined {
  try {
    using file = openInside([Instance.worktree], path)
    if (!file.stat.isFile() || file.stat.size > maxOld) return undefined
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(file.fd))
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : undefined
  }
}

function fileOf({ permission, target }: Permission.ShownNeed): { path: string }[] {
  return permission.startsWith("file.") && target.startsWith("/") ? [{ path: target }] : []
}
