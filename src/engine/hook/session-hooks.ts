// The hooks of one prompt: tells them what happens in its session, adds their context, and holds its answer back if they
// want that. Loaded only if there are hooks.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { fire, type Told } from "#ability/hook/fire.ts"
import type { About, Hook } from "#ability/hook/hook.ts"
import { loadHooks } from "#ability/hook/load-hooks.ts"
import { addNotes } from "#engine/context/notes.ts"
import { append, lastId } from "#engine/record/append.ts"
import { PromptBlocked, type PromptHooks } from "#engine/run/prompt-hooks.ts"
import type { Run } from "#engine/run/run.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import type { HookEvent, HookInput } from "#kernel/schema/schema.ts"
import * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { createCallHooks } from "./call-hooks.ts"
import { report } from "./report.ts"
import { createTranscript } from "./transcript.ts"

type Place = Pick<Run, "session" | "progress" | "signal"> & {
  agent: AgentDefinition
  /** The prompt that gave this one as a task. */
  parent: Run | undefined
  /** Questions are answered with yes. */
  isUnasked: boolean
}
export type Fire = (
  event: HookEvent,
  /** `changedBy`: the hook that changed the arguments. It is not told, and no other may change them again. */
  about: About & { what: string; toolUseId?: string; callId?: string; changedBy?: Hook },
  fields: Record<string, unknown>,
) => Promise<Told[]>

const never = new AbortController().signal
/** Answers of one prompt that hooks may hold back. */
const maxHeld = 8

/** Milliseconds without a prompt after which a person is told that vitamin waits. */
const idleAfter = 60_000

/** Why a session ends: the person began another one, opened an earlier one, left the terminal, or anything else. */
export type EndReason = "clear" | "resume" | "prompt_input_exit" | "other"
type Begun = { end(reason: EndReason): Promise<void>; idle?: NodeJS.Timeout | undefined }

/** The sessions that began in this instance. `isCleared`: a person wants a new one. */
const sessions = Instance.state(
  () => ({ begun: new Map<string, Begun>(), isCleared: false }),
  async ({ begun }) => {
    await Promise.all([...begun.keys()].map((id) => endSession(id, "other")))
  },
)

/** Tells hooks that a session ends, if they were told that it began. A later prompt begins it again. */
export async function endSession(sessionId: string, reason: EndReason): Promise<void> {
  const all = sessions()
  all.isCleared ||= reason === "clear"
  const one = all.begun.get(sessionId)
  all.begun.delete(sessionId)
  clearTimeout(one?.idle)
  await one?.end(reason)
}

class Stopped extends NamedError {
  constructor({ hook, answer }: Told) {
    super("Hook.Stopped", `The hook "${hook.name}" stopped the turn: ${answer.stop}`, { hook: hook.name })
  }
}

/** Undefined if no hook can be used. */
export async function openHooks(place: Place): Promise<PromptHooks | undefined> {
  const { hooks } = await loadHooks()
  if (!hooks.length) return undefined
  const { session, progress, signal, agent, parent } = place
  const transcript = createTranscript(session.id, progress.history)
  const mode = modeOf(place)
  const context: Told[] = []
  let stopped: Told | undefined
  let held = 0
  const has = (...events: HookEvent[]) => hooks.some(({ event }) => events.includes(event))
  const calls = createCallHooks(tell)

  /** Runs the hooks of an event and reports what they did. */
  async function tell(...[event, about, fields]: Parameters<Fire>): Promise<Told[]> {
    if (!has(event)) return []
    const input = inputOf(event, fields)
    const { changedBy } = about
    const heard = changedBy ? hooks.filter((hook) => hook !== changedBy) : hooks
    const told = await fire(heard, { ...about, event, input, signal })
    if (changedBy) for (const { answer } of told) delete answer.input
    report(told, { sessionId: session.id, messageId: lastId(place) ?? "", event, ...about })
    stopped ??= told.find(({ answer }) => answer.stop !== undefined)
    return told
  }

  /** Its transcript is written only if the hook reads the field. */
  function inputOf(event: HookEvent, fields: Record<string, unknown>): HookInput {
    const task = parent ? { agent_id: session.id, agent_type: agent.id } : {}
    const input = {
      session_id: rootOf(parent)?.session.id ?? session.id,
      cwd: Instance.directory,
      hook_event_name: event,
      permission_mode: mode,
      ...task,
      ...fields,
    }
    return Object.freeze(
      Object.defineProperty(input, "transcript_path", { get: transcript, enumerable: true }),
    ) as HookInput
  }

  function throwIfStopped(): void {
    if (stopped) throw new Stopped(stopped)
  }

  return Object.freeze({
    async begin(prompt: string): Promise<void> {
      if (parent) context.push(...(await tell("SubagentStart", { what: "the task", names: [agent.id] }, {})))
      else if (!sessions().begun.has(session.id)) await start()
      throwIfStopped()
      if (!parent) await submit(prompt)
    },
    submit,
    addContext,
    throwIfStopped,
    judgesCalls: has("PreToolUse", "PermissionRequest"),
    watchesCalls: has("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"),
    calls,
    holdBack,
    notify(message: string, type: "permission_prompt" | "elicitation_dialog" = "permission_prompt"): void {
      void tell("Notification", { what: "the notification", names: [type] }, noteOf(message, type))
    },
    async beforeCompact(trigger: "auto" | "manual"): Promise<void> {
      const about = { what: "the compaction", names: [trigger] }
      const told = await tell("PreCompact", about, { trigger, custom_instructions: "" })
      const by = told.find(({ answer }) => answer.block !== undefined)
      if (by && trigger === "manual")
        throw new NamedError("Hook.Blocked", `The hook "${by.hook.name}" blocks it: ${by.answer.block}`)
    },
    async afterCompact(trigger: "auto" | "manual"): Promise<void> {
      await tell("PostCompact", { what: "the compaction", names: [trigger] }, { trigger })
      const source = "compact"
      context.push(...(await tell("SessionStart", { what: "the session", names: [source] }, { source })))
      addContext()
    },
  })

  async function start(): Promise<void> {
    const all = sessions()
    all.begun.set(session.id, { end: (reason) => alone("SessionEnd", reason, { reason }) })
    const source = progress.history.length ? "resume" : all.isCleared ? "clear" : "startup"
    all.isCleared = false
    context.push(...(await tell("SessionStart", { what: "the session", names: [source] }, { source })))
  }

  /** Tells hooks something outside of a prompt. Nobody reads its events, so failures are logged. */
  async function alone(event: HookEvent, name: string, fields: Record<string, unknown>): Promise<void> {
    const told = await fire(hooks, { event, names: [name], input: inputOf(event, fields), signal: never })
    for (const { hook, answer } of told)
      if (answer.error) Log.warn(`the hook "${hook.name}" (${event}) failed: ${answer.error}`)
  }

  /** The answer is there, so the person is waited for. */
  function wait(): void {
    const one = sessions().begun.get(session.id)
    if (!one || !has("Notification")) return
    const type = "idle_prompt"
    const note = noteOf("vitamin is waiting for your input", type)
    clearTimeout(one.idle)
    one.idle = setTimeout(() => void alone("Notification", type, note), idleAfter).unref()
  }

  async function submit(prompt: string): Promise<void> {
    clearTimeout(sessions().begun.get(session.id)?.idle)
    const told = await tell("UserPromptSubmit", { what: "the prompt" }, { prompt })
    const blocked = told.filter(({ answer }) => answer.block !== undefined)
    if (blocked.length)
      throw new PromptBlocked(blocked.map(({ hook, answer }) => `${hook.name}: ${answer.block}`))
    throwIfStopped()
    context.push(...told)
  }

  function addContext(): void {
    for (const { hook, answer } of context.splice(0))
      if (answer.context) addNotes(place, [{ kind: "hook", name: hook.name, text: answer.context }])
  }

  async function holdBack(answer: Message.Info): Promise<boolean> {
    const event = parent ? "SubagentStop" : "Stop"
    const about = { what: "the answer", ...(parent ? { names: [agent.id] } : {}) }
    const fields = {
      stop_hook_active: held > 0,
      last_assistant_message: Message.textOf(answer),
      ...(parent && has(event) ? { agent_transcript_path: transcript() } : {}),
    }
    const told = await tell(event, about, fields)
    throwIfStopped()
    const by = told.filter(({ answer }) => answer.block !== undefined || answer.context !== undefined)
    if (!by.length || held >= maxHeld) wait()
    if (!by.length) return false
    if (held++ >= maxHeld) {
      const error = `it held the answer back ${maxHeld} times, and is not heard again in this prompt`
      report([{ hook: by[0]!.hook, answer: { error } }], {
        sessionId: session.id,
        messageId: answer.id,
        event,
        what: "the answer",
      })
      return false
    }
    const said = by.map(
      ({ hook, answer }) => `The hook "${hook.name}" says: ${answer.block ?? answer.context}`,
    )
    const { id: sessionId, branch } = session
    const data = {
      role: "system" as const,
      parts: [{ type: "text" as const, text: `Your answer is held back. ${said.join("\n")}` }],
      origin: { kind: "hook", name: by.map(({ hook }) => hook.name).join(", ") },
    }
    append(place, Message.make({ sessionId, parentId: lastId(place), branch, type: "text", data }))
    return true
  }
}

function noteOf(message: string, type: string) {
  return { message, title: "vitamin", notification_type: type }
}

function rootOf(parent: Run | undefined): Run | undefined {
  return parent?.parent ? rootOf(parent.parent) : parent
}

function modeOf({ session, isUnasked }: Place): HookInput["permission_mode"] {
  if (session.mode === "plan") return "plan"
  return isUnasked ? "bypassPermissions" : "default"
}
