// The answer of a remote agent to a prompt, instead of a model's. Its progress is shown as reasoning, its result is the
// answer. The ids of its task are stored, so that a later process continues the task instead of sending it again.
import type { Remote } from "#ability/a2a/remote-fetch.ts"
import { type Ids, RemoteFailed, runRemoteTask } from "#ability/a2a/run-remote-task.ts"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { append, lastId } from "#engine/record/append.ts"
import { remoteText } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { whoCanBeAsked } from "#engine/rights/permits.ts"
import type { Run } from "#engine/run/run.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import * as Message from "#knowledge/message/message.ts"
import { createStreamedText } from "./take-answer.ts"

const form = {
  type: "object",
  properties: { answer: { type: "string", title: "Answer" } },
  required: ["answer"],
}

export async function remoteTurn(run: Run, remote: Remote): Promise<Message.Info> {
  refuseInGuest(`The remote agent "${remote.name}"`)
  const { session, intent, signal } = run
  const { id: sessionId, branch, agent, remote: earlier } = session
  const place = { sessionId, parentId: lastId(run), branch, agent, model: `a2a/${remote.name}` }
  const text = Message.make({ ...place, type: "text", data: { role: "assistant", parts: [] } })
  const streamed = createStreamedText(run, text)
  const isSame = earlier?.isOpen === true && earlier.text === remoteText(intent)
  const settings = {
    remote,
    text: intent,
    depth: depthOf(run),
    signal,
    resume: isSame ? earlier : undefined,
    earlier: earlier && {
      contextId: earlier.contextId,
      ...(earlier.isOpen ? { taskId: earlier.taskId } : {}),
    },
    onTask: (ids: Ids) => note(run, { ...ids, text: remoteText(intent), isOpen: true }),
    onProgress(line: string) {
      const [reasoning] = text.data.parts
      if (reasoning) reasoning.text += `${line}\n`
      else text.data.parts.push({ type: "reasoning", text: `${line}\n` })
      streamed.add("reasoning", `${line}\n`)
    },
    ask: (question: string) => ask(run, remote, question),
  }
  try {
    const answer = await runRemoteTask(settings)
    streamed.add("text", answer)
    text.data.parts.push({ type: "text", text: answer })
    text.data.finish = "stop"
    await close(run)
  } catch (error) {
    text.data.finish = signal.aborted ? "interrupted" : "error"
    // A task of a server that is out of reach may still run: the same prompt finds it again.
    const isOpen = error instanceof RemoteFailed && error.data.isOpen === true && !signal.aborted
    if (!isOpen) await close(run)
    throw error
  } finally {
    streamed.rest()
    if (text.data.parts.length) append(run, text)
    else streamed.forget()
  }
  return text
}

/** How often the task was passed on before it came here is noted in the session of the first prompt. */
function depthOf({ parent, session }: Run): number {
  return parent ? depthOf(parent) : Number(session.metadata.a2aDepth ?? 0) + 1
}

async function close(run: Run): Promise<void> {
  const { remote } = run.session
  if (remote?.isOpen) await note(run, { ...remote, isOpen: false })
}

/** `session` is the run's own copy; the record is changed too. */
async function note({ session }: Run, remote: NonNullable<SessionRecord.Info["remote"]>): Promise<void> {
  session.remote = remote
  await SessionRecord.update(session, (draft) => Object.assign(draft, { remote }))
}

async function ask(
  { permits, session, signal }: Run,
  { name }: Remote,
  question: string,
): Promise<string | undefined> {
  const { whileAsking } = whoCanBeAsked(permits)
  const message = `The remote agent ${name} asks:\n${question}`
  const reply = await whileAsking?.(({ onlyListeners }) =>
    Elicitation.ask({
      sessionId: session.id,
      question: { mode: "form", message, schema: form },
      signal,
      onlyListeners,
    }),
  )
  const answer = reply?.action === "accept" ? reply.content?.answer : undefined
  return typeof answer === "string" ? answer : undefined
}
