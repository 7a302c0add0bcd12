// Queues a prompt: a session runs one at a time; the next one waits, or joins the running one. A prompt that waits, or that
// is accepted with 202, is stored first.

import { waitFor } from "#engine/ask/retry.ts"
import { endWith } from "#engine/queue/end-with.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { partsOf } from "#engine/record/prompt-part.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Input, Timing } from "#engine/run/run.ts"
import type * as Message from "#knowledge/message/message.ts"
import type { Work } from "./begin-run.ts"
import { runPrompt } from "./run-prompt.ts"
import { callsServer, commandIn } from "./server-command.ts"

const usual: Timing = { stall: 120_000, keepEvery: 1_000, reply: 600_000, wait: waitFor }

/** Send a prompt; returns the final message of the model. */
export function prompt(input: Input): Promise<Message.Info> {
  return promptWith(input, usual)
}

/** Store a prompt and start it. Returns once the record is on disk. `answered` is the outcome, which is also published. */
export async function accept(input: Input): Promise<{ promptId: string; answered: Promise<Message.Info> }> {
  SessionRecord.refuseBusy(await SessionRecord.get(input.sessionId))
  const isCalled = commandIn(input) !== undefined && (await callsServer(input))
  Queue.check(input)
  const stored = StoredPrompt.create({ ...input, parts: partsOf(input) })
  const answered = enter(input, { usual, stored, isCalled })
  answered.catch(() => {})
  await stored.written
  return { promptId: stored.id, answered }
}

/** `prompt` with other time limits. */
export async function promptWith(input: Input, usual: Timing): Promise<Message.Info> {
  const isCalled = commandIn(input) !== undefined && (await callsServer(input))
  // A prompt that begins at once needs no record: its message is stored.
  const waits = Queue.check(input) && !input.stored
  const stored = waits ? StoredPrompt.create({ ...input, parts: partsOf(input) }) : undefined
  return enter(input, { usual, stored, isCalled })
}

async function enter(
  input: Input,
  options: { usual: Timing; stored: StoredPrompt.Handle | undefined; isCalled: boolean },
): Promise<Message.Info> {
  const { sessionId, whenBusy, signal, timeout, parent } = input
  const { usual, stored, isCalled } = options
  const timing = { ...usual, reply: input.replyLimit ?? usual.reply }
  const work: Work = { ...input, parts: partsOf(input), timing, stored: stored ?? input.stored, isCalled }
  // While it waits, its images are on disk and use no memory.
  stored?.written.then((parts) => Object.assign(work, { parts })).catch(() => {})
  // A prompt that needs an MCP server cannot steer: if the server fails, the running prompt must continue.
  const steering = whenBusy === "steer" && !isCalled ? work : undefined
  const place = { sessionId, ...(whenBusy ? { whenBusy } : {}), steering, promptId: work.stored?.id }
  return Queue.enter(place, async (abort) => {
    const letGo = endWith(abort, {
      ...(signal ? { signal } : {}),
      ...(timeout === undefined ? {} : { timeout }),
      parent,
    })
    try {
      await work.stored?.written
      return await runPrompt(work, { signal: abort.signal, prompt: promptWith })
    } catch (error) {
      if (work.stored) await StoredPrompt.release(work.stored, { signal: abort.signal, error })
      throw error
    } finally {
      letGo()
    }
  })
}
