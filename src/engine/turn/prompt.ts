// Queues a prompt: a session runs one at a time; the next one waits, or joins the running one. A prompt that waits, or that
// is accepted with 202, is stored first.
import { AsyncLocalStorage } from "node:async_hooks"
import { isNestedTooDeep } from "#ability/shell/environment.ts"
import { waitFor } from "#engine/model/retry.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { partsOf } from "#engine/record/prompt-part.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import type { Input, Timing, Work } from "#engine/run/run.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Trace from "#kernel/trace.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { runPrompt } from "./run-prompt.ts"

type Entering = { timing: Timing; stored: StoredPrompt.Handle | undefined; command: string | undefined }

const defaults: Timing = { stall: 120_000, keepEvery: 1_000, reply: 600_000, wait: waitFor }
const longestTimer = 2 ** 31 - 1
const named = /^\s*(\/\S*)/

/** Send a prompt; returns the final message of the model. */
export function prompt(input: Input): Promise<Message.Info> {
  return promptWith(input, defaults)
}

/** Store a prompt and start it. Returns once the record is on disk. `answered` is the outcome, which is also published. */
export async function accept(input: Input): Promise<{ promptId: string; answered: Promise<Message.Info> }> {
  SessionRecord.refuseBusy(await SessionRecord.get(input.sessionId))
  const command = await check(input)
  Queue.check(input)
  const stored = StoredPrompt.create({ ...input, parts: partsOf(input) })
  const answered = enter(input, { timing: defaults, stored, command })
  answered.catch(() => {})
  await stored.written
  return { promptId: stored.id, answered }
}

/** `prompt` with other time limits. */
export async function promptWith(input: Input, timing: Timing): Promise<Message.Info> {
  refuseRecursion()
  const command = await check(input)
  // A prompt that begins at once needs no record: its message is stored.
  const waits = Queue.check(input) && !input.stored
  const stored = waits ? StoredPrompt.create({ ...input, parts: partsOf(input) }) : undefined
  return enter(input, { timing, stored, command })
}

/** Run a prompt whose turn has come in this process. */
export function runHere(work: Work, signal: AbortSignal): Promise<Message.Info> {
  return Secret.inSession(work.sessionId, () => runPrompt(work, { signal, prompt: promptWith }))
}

/** A command or a hook that runs vitamin, which runs it again, would never end. */
function refuseRecursion(): void {
  if (isNestedTooDeep())
    throw new NamedError(
      "Session.TooDeep",
      "The prompt was not sent: vitamin was started by its own commands or hooks many times over. A command or a hook that runs vitamin must not run itself.",
    )
}

async function enter(input: Input, { timing: given, stored, command }: Entering): Promise<Message.Info> {
  const { sessionId, whenBusy } = input
  const timing = { ...given, reply: input.replyLimit ?? given.reply }
  const work: Work = { ...input, parts: partsOf(input), timing, stored: stored ?? input.stored, command }
  // While it waits, its images are on disk and use no memory.
  stored?.written.then((parts) => Object.assign(work, { parts })).catch(() => {})
  // A command cannot steer: it may need an MCP server that fails, or another agent, and the running prompt must continue.
  const steering = whenBusy === "steer" && !command ? work : undefined
  const place = {
    sessionId,
    ...(whenBusy ? { whenBusy } : {}),
    steering,
    promptId: work.stored?.id,
    onlyJoins: input.onlyJoins,
  }
  return Queue.enter(place, async (abort) => {
    const disconnect = endWith(abort, input)
    try {
      await work.stored?.written
      // Not earlier: the prompts that wait for the session have callers of their own.
      Trace.receive(sessionId, input.traceparent)
      return await (input.runner ?? runHere)(work, abort.signal)
    } catch (error) {
      if (work.stored) await StoredPrompt.release(work.stored, { signal: abort.signal, error })
      throw error
    } finally {
      disconnect()
    }
  })
}

/** Connects the caller's signal and the time limit to a prompt. The returned function disconnects them when the prompt is
 * over. */
function endWith(abort: AbortController, { signal, timeout, parent }: Input): () => void {
  // The caller may be outside the instance, and listeners need the instance.
  const follow = AsyncLocalStorage.bind(() => abort.abort(signal?.reason))
  const late = () => abort.abort(Queue.timeIsUp)
  if (signal?.aborted) follow()
  signal?.addEventListener("abort", follow, { once: true })
  const timer = timeout === undefined ? undefined : setTimeout(late, Math.min(timeout, longestTimer))
  return () => {
    clearTimeout(timer)
    // A task keeps the listener: work that it left running is aborted with the turn that started the task.
    if (!parent) signal?.removeEventListener("abort", follow)
  }
}

/** Throws for a schema that cannot be used and for an unknown command, before the prompt is stored or queued. Returns the
 * command. */
export async function check(input: Input): Promise<string | undefined> {
  const { outputSchema } = input
  if (outputSchema) (await import("#engine/run/output-schema.ts")).checkSchema(outputSchema)
  const words = commandIn(input)
  return words && ifExpandable(words, input)
}

/** The text of a prompt if it is a command, `/name …`, that a person typed. Text that a client added in front does not
 * count. */
function commandIn({ text, parts, mentionsIn, isText, parent }: Input): string | undefined {
  const [first] = text === undefined ? (parts ?? []) : [{ type: "text" as const, text }]
  if (isText || parent || first?.type !== "text") return undefined
  const name = named.exec(first.text)?.[1]
  return name !== undefined && name === named.exec(mentionsIn ?? first.text)?.[1] ? first.text : undefined
}

/** Returns the text if it names a command file or a prompt of an MCP server. It is expanded later, when the prompt starts, so
 * that an abort reaches the server or the shell, and prompts keep their order. Throws for an unknown name. */
async function ifExpandable(words: string, { sessionId }: Input): Promise<string | undefined> {
  const { isExpandable } = await import("#engine/attach/expand-command.ts")
  return (await isExpandable(words, sessionId)) ? words : undefined
}
