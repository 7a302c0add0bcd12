// Runs a prompt in a guest. The parent holds everything that counts; when the guest ends too early, it completes the records
// of the prompt.
import { AsyncLocalStorage } from "node:async_hooks"
import * as ImageStore from "#ability/image/image-store.ts"
import { serversOf } from "#ability/mcp/elsewhere.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Answered, type Prompt } from "#edge/sandbox/wire/doors.ts"
import { BrokenFrame } from "#edge/sandbox/wire/frames.ts"
import * as Queue from "#engine/queue/queue.ts"
import { recoverOnce } from "#engine/queue/recover-prompts.ts"
import { settle } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { createProgress, type Work } from "#engine/run/run.ts"
import { openHistory } from "#engine/turn/begin-run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { withoutSecrets } from "#kernel/schema/secrets.ts"
import * as Trace from "#kernel/trace.ts"
import * as Worker from "#kernel/worker/worker.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText, NamedError } from "#util/error.ts"
import { type Doors, type Guest, sayDisarmed } from "./create-guest.ts"
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
import { createToldRecords } from "./told-records.ts"

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

type Limits = { signal: AbortSignal; timeout: number | undefined }

/** A prompt that fails before the guest has said so, such as one whose guest cannot start, is reported here. */
export async function runInside(guest: Promise<Guest>, work: Work, limits: Limits): Promise<Message.Info> {
  const { sessionId, stored } = work
  let isReported = false
  const unsubscribe = Bus.subscribe(SessionRecord.Failed, (failed) => {
    if (failed.sessionId === sessionId) isReported = true
  })
  let lease: Worker.Lease | undefined
  try {
    lease = await SessionRecord.takeLease(sessionId)
    const signal = lease ? AbortSignal.any([limits.signal, lease.signal]) : limits.signal
    return await Worker.run(lease, async () => run(await guest, work, { ...limits, signal }))
  } catch (error) {
    if (lease?.signal.aborted) throw lease.signal.reason
    if (!isReported)
      Bus.publish(SessionRecord.Failed, {
        sessionId,
        error: failureOf(error),
        ...(stored ? { promptId: stored.id } : {}),
      })
    throw error
  } finally {
    unsubscribe()
    await Worker.release(lease)
  }
}

async function run(guest: Guest, work: Work, { signal: given, timeout }: Limits): Promise<Message.Info> {
  const deadline = createDeadline(given, timeout)
  const { signal } = deadline
  const session = await SessionRecord.get(work.sessionId)
  SessionRecord.refuseBusy(session)
  await recoverOnce(session.id)
  const over = new AbortController()
  const { doors, sessions, told, models } = openDoors(guest, work, { session, deadline, over: over.signal })
  let timer: NodeJS.Timeout | undefined
  const hurry = () => {
    timer = setTimeout(() => void guest.stop(), patience)
  }
  signal.addEventListener("abort", hurry, { once: true })
  guest.serve(doors)
  try {
    signal.throwIfAborted()
    const [given, records, images, model] = await Promise.all([
      givenFor(session.id),
      told.first(),
      ImageStore.list(session.id),
      models.chooseAhead(work.agent ?? session.agent),
    ])
    const prompt = { given, records, model, images, work: wireOf(work) }
    const asked = guest.peer.ask("prompt", prompt, signal)
    // The guest begins meanwhile. Its first snapshot gets the error.
    Snapshot.prepare().catch(() => {})
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
    await reportDisarmed(guest, session.id)
  }
}

/** A repository inside of the folder must not run something when the person calls git there, or opens an editor. */
async function reportDisarmed(guest: Guest, sessionId: string): Promise<void> {
  const { renamed, isPartial } = await guest.disarm()
  const say = (text: string) => Bus.publish(Notice, { sessionId, messageId: "", text })
  for (const path of renamed) say(sayDisarmed(path))
  if (isPartial) say("the folder is too large to look for nested repositories in all of it")
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
  const { drained } = guest.peer
  const records = createRecordDoors(sessions, { stored, isOwn: snapshots.isOwn, drained })
  const questions = createQuestionDoors(sessions, work, { ...deadline, allowed: (url) => network.allow(url) })
  const network = createNetworkDoor(sessions, questions)
  const publish = createEventDoor(sessions)
  const told = createToldRecords(session.id, (records) => guest.peer.note("told", records))
  /** After it the guest judges calls. */
  const fresh = async <T>(answer: Promise<T>) => {
    const result = await answer
    await told.refresh()
    return result
  }
  const answers: Record<string, (args: unknown, signal: AbortSignal) => Promise<unknown>> = {
    "record.get": records.get,
    "record.many": records.many,
    "record.list": records.list,
    "record.put": records.put,
    "record.swap": records.swap,
    "record.remove": records.remove,
    "model.choose": models.choose,
    "model.stream": (args, signal) =>
      fresh(models.stream(args, signal, (parts) => guest.peer.note("parts", parts))),
    "permission.ask": (args, signal) => fresh(questions.ask(args, signal)),
    "elicitation.ask": questions.elicit,
    "image.get": images.get,
    "image.put": images.put,
    "snapshot.take": async (args) => {
      const taken = await fresh(snapshots.take(args))
      // The guest runs the call when it has the answer.
      await Worker.check()
      return taken
    },
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
  return { doors, sessions, told, models }
}

/** What the guest must know that it cannot read: the person's configuration without keys, and the review of the folder. */
async function givenFor(sessionId: string): Promise<Prompt["given"]> {
  const trace = Trace.of(sessionId)
  return {
    directory: Instance.directory,
    layers: await Config.ownLayers(),
    files: personFiles(),
    servers: serversOf(sessionId).map((server) => withoutSecrets({ ...server })),
    trust: (await Reviewed.read(Reviewed.rootOf(Instance.worktree))) ?? null,
    ...(trace ? { trace } : {}),
  }
}

function wireOf(work: Work): Prompt["work"] {
  const { stall, keepEvery, reply } = work.timing
  const { stored, signal: _, parent: __, runner: ___, whenBusy: ____, timeout: _____, ...plain } = work
  return {
    ...plain,
    timing: { stall, keepEvery, reply },
    ...(stored ? { promptId: stored.id, isJob: stored.isJob } : {}),
  } as Prompt["work"]
}

/** Completes what a guest left open: calls without results are "interrupted", and no session stays busy. */
async function complete(sessions: PromptSessions, error: unknown, signal: AbortSignal): Promise<unknown> {
  if (signal.reason instanceof Worker.TakenOver) return error
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
  const failure = failureOf(error)
  const status = signal.aborted ? "interrupted" : "error"
  await SessionRecord.update(session, (draft) => {
    delete draft.owner
    delete draft.tip
    Object.assign(draft, { status, error: failure })
  })
  Bus.publish(SessionRecord.Failed, { sessionId: id, error: failure })
}

function failureOf(error: unknown): { name: string; message: string } {
  return { name: error instanceof Error ? error.name : "Error", message: errorText(error) }
}
