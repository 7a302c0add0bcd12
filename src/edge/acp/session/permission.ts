// Asks the person for permission through the client. A client that cannot ask, or answers something else, means no;
// "cancelled" decides nothing, and the turn ends.
import type { AgentContext, PermissionOption } from "@agentclientprotocol/sdk"
import { methods } from "@agentclientprotocol/sdk"
import * as Permission from "#ability/permission/permission.ts"
import { toolCallOf } from "#edge/acp/update/updates.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import { errorText } from "#util/error.ts"

type Asking = {
  client: AgentContext
  /** The one that the client knows; a subtask has another. */
  sessionId: string
  request: Permission.Request
  /** Nobody decides. */
  abort: () => void
}

const maxName = 150
const edits: PermissionOption = {
  optionId: "edits",
  name: "Allow all edits in this session",
  kind: "allow_always",
}
const reject: PermissionOption = { optionId: "reject", name: "Reject", kind: "reject_once" }

/** Ask, and pass the answer on. Never throws. */
export async function askPermission(asking: Asking): Promise<void> {
  const { request } = asking
  const isOpen = () => Permission.pending().some(({ id }) => id === request.id)
  if (!isOpen()) return
  const over = new AbortController()
  const unsubscribe = Bus.subscribe(Permission.Replied, ({ id }) => {
    if (id === request.id) over.abort()
  })
  try {
    const answer = await ask(asking, over.signal)
    if (!isOpen()) return
    if (answer === "cancelled") return asking.abort()
    const { reply, ...details } = answer
    await Permission.reply(request.id, reply, details)
  } catch (error) {
    Log.warn("an answer could not be kept", { error })
    if (isOpen()) asking.abort()
  } finally {
    unsubscribe()
  }
}

async function ask(
  { client, sessionId, request }: Asking,
  over: AbortSignal,
): Promise<"cancelled" | (Permission.Details & { reply: Permission.Reply })> {
  const options = optionsFor(request)
  try {
    const toolCall = await toolCallOf(request)
    if (over.aborted) return "cancelled"
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      { sessionId, toolCall, options },
      { cancellationSignal: over, stopWaitingOnCancel: true },
    )
    if (outcome?.outcome === "cancelled") return "cancelled"
    const wanted = outcome?.outcome === "selected" ? outcome.optionId : undefined
    const chosen = options.find(({ optionId }) => optionId === wanted)
    if (chosen === edits) return { reply: "always", scope: "session", edits: true }
    return { reply: (chosen?.optionId ?? "reject") as Permission.Reply }
  } catch (error) {
    if (over.aborted) return "cancelled"
    Log.warn("the ACP client could not ask for permission", { error: errorText(error) })
    return { reply: "reject", message: "the editor could not ask for it" }
  }
}

/** The text of the option shows what "always" would allow, and its risks. */
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
