// Reads the history that a prompt needs, and repairs what a crashed process left open.
import * as SeenFiles from "#ability/file/seen-files.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import type { Chosen } from "#engine/ask/choose-model.ts"
import { append, keep, lastId } from "#engine/record/append.ts"
import { cutOff, missingResults, recentHistory } from "#engine/record/history.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Tip } from "#engine/record/session-info.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { compactionOf, windowOf } from "#knowledge/memory/window.ts"
import { gapsIn } from "#knowledge/message/gaps.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"

/** Pushes the messages to `history`, the array of `Memory.begin`. */
export async function openHistory(
  run: Pick<Run, "session" | "progress">,
  tip: Tip | undefined,
): Promise<void> {
  const { session, progress } = run
  const { history, records } = progress
  for (const message of await recentHistory(session, tip)) history.push(message)
  reportGaps(run)
  for (const message of cutOff(history)) keep(records, MessageStore.write(message))
  for (const result of missingResults(history)) append(run, result)
  // Not by the window of the memory: attachments may still be read again, and a window that was made stays.
  const compaction = history.findLast((message) => compactionOf(message) !== undefined)
  const versions = compaction && compactionOf(compaction)?.versions
  if (versions) SeenFiles.learn(session.id, versions.concat(SeenFiles.versionsIn(history)))
}

/** Converts the history for the model. The next prompt of this process gets the same message objects from the cache, and
 * need not convert them again. */
export function createSending(
  { session: { id: sessionId }, progress }: Pick<Run, "session" | "progress">,
  { providerId, facts }: Chosen,
): Message.Converter {
  const converter = Memory.converterFor(sessionId, {
    input: facts?.input ?? ["text"],
    providerId,
    imageBytes: (hash) => ImageStore.read(sessionId, hash),
  })
  converter.hold(windowOf(progress.history).sent)
  return converter
}

/** A prompt continues in a session with unreadable messages. Each prompt reports them to the person; the model gets a note
 * in place of each message. */
function reportGaps(run: Pick<Run, "session" | "progress">): void {
  const gaps = gapsIn(run.progress.history)
  const [first] = gaps
  if (!first) return
  const missing =
    gaps.length === 1
      ? `a message of this session cannot be read and is missing (${first.id}: ${first.reason})`
      : `${gaps.length} messages of this session cannot be read and are missing (the first is ${first.id}: ${first.reason})`
  const text = `${missing}; the model is told so. "${ownCommand} doctor" says how to get back what can be.`
  Bus.publish(Notice, { sessionId: run.session.id, messageId: lastId(run) ?? "", text })
}
