// A prompt goes on in a session of which a part cannot be read: the person is told so, each time. The model has a note in
// the place of each missing message.

import { lastId } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { gapsIn } from "#knowledge/message/bridge-gaps.ts"

export function tellGaps(run: Pick<Run, "session" | "progress">): void {
  const gaps = gapsIn(run.progress.history)
  const [first] = gaps
  if (!first) return
  const missing =
    gaps.length === 1
      ? `a message of this session cannot be read and is missing (${first.id}: ${first.reason})`
      : `${gaps.length} messages of this session cannot be read and are missing (the first is ${first.id}: ${first.reason})`
  const text = `${missing}; the model is told so. "vitamin doctor" says how to get back what can be.`
  Bus.publish(Notice, { sessionId: run.session.id, messageId: lastId(run) ?? "", text })
}
