// Questions that a person is asked through the editor and that are about no call that waits: for an attachment, or whether to
// go on. An editor shows each as a call, which must not stay open when it is answered.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import type * as Permission from "#ability/permission/permission.ts"
import { questionOf } from "#edge/acp/show/tool-call-of.ts"

export function createQuestionFollower(send: (update: SessionUpdate) => void) {
  const open = new Set<string>()

  function ask(request: Permission.Request): void {
    const { id, callId, messageId, needs } = request
    if (needs.length && callId !== messageId) return
    open.add(id)
    send({ sessionUpdate: "tool_call", ...questionOf(request) })
  }

  function answer({ id, reply }: { id: string; reply: Permission.Reply }): void {
    if (!open.delete(id)) return
    const status = reply === "reject" ? "failed" : "completed"
    send({ sessionUpdate: "tool_call_update", toolCallId: id, status })
  }

  return Object.freeze({ ask, answer })
}
