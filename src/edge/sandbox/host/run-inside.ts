// Runs a prompt in a guest. The parent holds everything that counts; when the guest ends too early, it completes the records
// of the prompt.
import { AsyncLocalStorage } from "node:async_hooks"
import { serversOf } from "#ability/mcp/elsewhere.ts"
import { Answered, type Prompt } from "#edge/sandbox/wire/doors.ts"
import { BrokenFrame } from "#edge/sandbox/wire/frames.ts"
import * as Queue from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { settle } from "#engine/record/append.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { createProgress, type Work } from "#engine/run/run.ts"
import { openHistory } from "#engine/turn/begin-run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { withoutSecrets } from "#kernel/schema/secrets.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import type { Doors, Guest } from "./create-guest.ts"
import { createDeadline, type Deadline } from "./deadline.ts"
import { createEventDoor } from "./events.ts"
import { createImageDoors } from "./images.ts"
import { createModelDoors } from "./models.ts"
import { createNetworkDoor } from "./network.ts"
import { personFiles } from "./person-files.ts"
import { createPromptSessions, type PromptSessions } from "./prompt-sessions.ts"
import { createQuestionDoors } from "./questions.ts"
import { createRecordDoors } from "./records.ts"
import { Refused } from "./refused.ts"
import { createSnapshotDoors } from "./snapshots.ts"

/** Milliseconds that a guest gets to end its prompt after an abort; less than the queue waits at a shutdown. */
const patience = 2_000

class GuestEnded extends NamedError {
  constructor(how: string) {
    super(
      "Sandbox.Ended",
      `The process in the sandbox ended in the middle of the prompt (${how}). The next prompt starts a new one.`,
      { how },
    )
  }
}

export async function runInside(
  guest: Guest,
  work: Work,
  { signal: given, timeout }: { signal: AbortSignal; timeout: number | undefined },
): Promise<Message.Info> {
  const deadline = createDeadline(given, timeout)
  const { signal } = deadline
  const session = await SessionRecord.get(work.sessionId)
  SessionRecord.refuseBusy(session)
  await StoredPrompt.recoverOnce(session.id)
  const over = new AbortController()
  const { doors, sessions } = openDoors(guest, work, { session, deadline, over: over.signal })
  let timer: NodeJS.Timeout | undefined
  const hurry = () => {
    timer = setTimeout(() => void guest.stop(), patience)
  }
  signal.addEventListener("abort", hurry, { once: true })
  guest.serve(doors)
  try {
    signal.throwIfAborted()
    const asked = guest.peer.ask("prompt", { given: await givenFor(session.id), work: wireOf(work) }, signal)
    const { messageId } = Answered.parse(await asked)
    return await MessageStore.get(session.id, messageId)
  } catch (error) {
    const broken = guest.peer.isBroken()
    const how = guest.peer.isClosed() ? await guest.ended : undefined
    const reason = broken ?? (how === undefined ? error : new GuestEnded(how))
    throw await complete(
      sessions,
      signal.aborted ? new Queue.Interrupted(session.id, signal) : reason,
      signal,
    )
  } finally {
    deadline.end()
    clearTimeout(timer)
    signal.removeEventListener("abort", hurry)
    guest.serve(undefined)
    // A guest that says it is done must not go on asking models and people.
    over.abort("the prompt is over")
  }
}

function openDoors(
  guest: Guest,
  work: Work,
  { session, deadline, over }: { session: SessionRecord.Info; deadline: Deadline; over: AbortSignal },
) {
  const { agent, model, maxCost, stored } = work
  const models = createModelDoors({ session, model, maxCost })
  const sessions = createPromptSessions(session, { agent, isSettled: models.isSettled })
  const snapshots = createSnapshotDoors(sessions)
  const images = createImageDoors(sessions)
  const begun = (promptId: string) => {
    if (stored && stored.id === promptId) stored.hasBegun = true
  }
  const records = createRecordDoors(sessions, { begun, isOwn: snapshots.isOwn })
  const questions = createQuestionDoors(sessions, work, { ...deadline, allowed: (url) => network.allow(url) })
  const network = createNetworkDoor(sessions, questions)
  const publish = createEventDoor(sessions)
  const answers: Record<string, (args: unknown, signal: AbortSignal) => Promise<unknown>> = {
    "record.get": records.get,
    "record.many": records.many,
    "record.list": records.list,
    "record.put": records.put,
    "record.swap": records.swap,
    "record.remove": records.remove,
    "model.choose": models.choose,
    "model.stream": (args, signal) => models.stream(args, signal, (parts) => guest.peer.note("parts", parts)),
    "permission.ask": questions.ask,
    "elicitation.ask": questions.elicit,
    "image.list": images.list,
    "image.get": images.get,
    "image.put": images.put,
    "snapshot.take": snapshots.take,
    "snapshot.finish": snapshots.finish,
    "snapshot.close": snapshots.close,
  }
  const inContext = AsyncLocalStorage.snapshot()
  const doors: Doors = {
    ask: (name, args, signal) =>
      inContext(async () => {
        const answer = Object.hasOwn(answers, name) ? answers[name] : undefined
        if (!answer) throw new Refused(JSON.stringify(name.slice(0, 40)))
        return answer(args, AbortSignal.any([signal, over]))
      }),
    note: (name, args) => {
      if (name !== "event") throw new BrokenFrame("a note of an unknown kind")
      inContext(() => publish(args))
    },
    checkUrl: (url) => inContext(() => network.check(url)),
  }
  return { doors, sessions }
}

/** What the guest must know that it cannot read: the person's configuration without keys, and the review of the folder. */
async function givenFor(sessionId: string): Promise<Prompt["given"]> {
  return {
    directory: Instance.directory,
    layers: await Config.ownLayers(),
    files: personFiles(),
    servers: serversOf(sessionId).map((server) => withoutSecrets({ ...server })),
    trust: (await Reviewed.read(Reviewed.rootOf(Instance.worktree))) ?? null,
  }
}

function wireOf(work: Work): Prompt["work"] {
  const { stall, keepEvery, reply } = work.timing
  const { stored, signal: _, parent: __, runner: ___, whenBusy: ____, timeout: _____, ...plain } = work
  return {
    ...plain,
    timing: { stall, keepEvery, reply },
    ...(stored ? { promptId: stored.id } : {}),
  } as Prompt["work"]
}

/** Completes what a guest left open: calls without results are "interrupted", and no session stays busy. */
async function complete(sessions: PromptSessions, error: unknown, signal: AbortSignal): Promise<unknown> {
  for (const id of sessions.ids())
    await completeSession(id, error, signal).catch((reason) =>
      Log.warn("the end of a prompt in a sandbox could not be stored", { error: errorText(reason) }),
    )
  return error
}

async function completeSession(id: string, error: unknown, signal: AbortSignal): Promise<void> {
  const session = await SessionRecord.get(id).catch(() => undefined)
  if (session?.status !== "busy" && session?.status !== "waiting") return
  const progress = createProgress([])
  await openHistory({ session, progress }, undefined)
  await settle(progress.records)
  const failure = { name: error instanceof Error ? error.name : "Error", message: errorText(error) }
  const status = signal.aborted ? "interrupted" : "error"
  await SessionRecord.update(session, (draft) => {
    delete draft.owner
    delete draft.tip
    Object.assign(draft, { status, error: failure })
  })
  Bus.publish(SessionRecord.Failed, { sessionId: id, error: failure })
}
