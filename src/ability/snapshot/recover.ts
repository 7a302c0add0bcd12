// Calls whose end nobody saw, because their process died: what they changed is looked at now and put on record.

import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { readPending, removePending } from "./session-log.ts"
import * as Shadow from "./shadow.ts"
import { finishLate } from "./take.ts"

/** Only for a session that nobody is working on. */
export async function recover(sessionId: string): Promise<void> {
  const shadow = Shadow.get()
  for (const pending of readPending(shadow)) {
    if (pending.sessionId !== sessionId) continue
    const request = await MessageStore.get(sessionId, pending.messageId).catch(ifMissing)
    const call =
      request?.type === "tool_request" && request.data.calls.find(({ id }) => id === pending.callId)
    if (request && call) {
      call.snapshot = (await finishLate(shadow, pending)) as Message.Json
      await MessageStore.write(request)
    }
    removePending(shadow, pending)
  }
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Storage.NotFound || error instanceof Storage.Corrupt)) throw error
}
