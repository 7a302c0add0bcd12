// Asks the person for permission through the client. If the client fails or replies with an unknown option, the call is
// rejected. The reply "cancelled" aborts the turn without a decision.
import type { AgentContext, PermissionOption } from "@agentclientprotocol/sdk"
import { methods } from "@agentclientprotocol/sdk"
import type { Editor } from "#ability/call/editor.ts"
import * as Permission from "#ability/permission/permission.ts"
import { toolCallOf } from "#edge/acp/update/updates.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"

type Asking = {
  client: AgentContext
  /** The session that the client has open; `request.sessionId` may be a subtask of it. */
  sessionId: string
  request: Permission.Request
  editor?: Editor | undefined
  /** Aborts the turn if the person does not decide. */
  abort: () => void
}

const maxName = 150
const edits: PermissionOption = {
  optionId: "edits",
  name: "Allow all edits in this session",
  kind: "allow_always",
}
const reject: PermissionOption = { optionId: "reject", name: "Reject", kind: "reject_once" }

/** Ask the person, and reply to the permission request. Never throws. */
export async function askPermission(asking: Asking): Promise<void> {
  const { request } = asking
  const isOpen = () => Permission.pending().some(({ id }) => id === request.id)
  if (!isOpen()) return
  const replied = new AbortController()
  const unsubscribe = Bus.subscribe(Permission.Replied, ({ id }) => {
    if (id === request.id) replied.abort()
  })
  try {
    const answer = await ask(asking, replied.signal)
    if (!isOpen()) return
    if (answer === "cancelled") return asking.abort()
    const { reply, ...details } = answer
    await Permission.reply(request.id, reply, details)
  } catch (error) {
    Log.warn("the reply to a permission request could not be stored", { error })
    if (isOpen()) asking.abort()
  } finally {
    unsubscribe()
  }
}

/** `replied` aborts the question when another client has replied. */
async function ask(
  { client, sessionId, request, editor }: Asking,
  replied: AbortSignal,
): Promise<"cancelled" | (Permission.Details & { reply: Permission.Reply })> {
  const options = optionsFor(request)
  try {
    const toolCall = await toolCallOf(request, (path) => editor?.readText?.(path, replied))
    if (replied.aborted) return "cancelled"
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      { sessionId, toolCall, options },
      { cancellationSignal: replied, stopWaitingOnCancel: true },
    )
    if (outcome?.outcome === "cancelled") return "cancelled"
    const wanted = outcome?.outcome === "selected" ? outcome.optionId : undefined
    const chosen = options.find(({ optionId }) => optionId === wanted)
    if (chosen === edits) return { reply: "always", scope: "session", edits: true }
    return { reply: (chosen?.optionId ?? "reject") as Permission.Reply }
  } catch (error) {
    if (replied.aborted) return "cancelled"
    Log.warn("the ACP client failed to ask for permission", { error: errorText(error) })
    return { reply: "reject", message: "the editor could not ask for it" }
  }
}

/** The option names show the risks of the call and the rules that "always" would store. */
function optionsFor(request: Permission.Request): PermissionOption[] {
  const { needs, protected: isProtected } = request
  const hints = [
    ...(isProtected ? [lowered(Permission.whyProtected(needs))] : []),
    ...(needs.some(({ changed }) => changed) ? [Permission.sayChanged] : []),
  ]
  const once: PermissionOption = {
    optionId: "once",
    name: hints.length ? `Allow (${hints.join("; ")})` : "Allow",
    kind: "allow_once",
  }
  if (!Permission.canBeAlways(request)) return [once, reject]
  const rules = needs.flatMap((need) => need.rules.map(Permission.formatRule)).join(", ")
  const shown = Secret.redact(Log.escapeControls(rules))
  const name = `Always allow ${shown.length > maxName ? `${shown.slice(0, maxName - 1)}…` : shown}`
  const always: PermissionOption = { optionId: "always", name, kind: "allow_always" }
  return [once, always, ...(Permission.isEdit(request) ? [edits] : []), reject]
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
