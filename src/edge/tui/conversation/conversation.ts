// The session that the terminal shows: which events belong to it, whether it works, which prompts wait, and what is sent.

import type { Client, Message, Session, StreamEvent, WaitingPrompt } from "#client/client.ts"
import { ClientError } from "#client/client.ts"
import { type Preset, presetsFor } from "#edge/tui/command/preset.ts"
import { createApproval } from "./approval.ts"
import type { Attachment, PromptSettings, Sent } from "./prompt-settings.ts"
import { createWaitingPrompts } from "./waiting-prompts.ts"

export type Conversation = ReturnType<typeof createConversation>

type Options = {
  client: Client
  settings: PromptSettings
  agent?: string | undefined
  model?: string | undefined
  preset: Preset
  isSandboxed: boolean
  /** Something that is shown has changed. */
  changed(): void
  /** A prompt could not be sent, or was stopped before it began. */
  returned(sent: Sent): void
}

export function createConversation({ client, settings, changed, returned, ...first }: Options) {
  let session: Session | undefined
  let { agent, model } = first
  const { isSandboxed } = first
  const presets = presetsFor(isSandboxed)
  let creating: Promise<Session> | undefined
  let sending: Promise<unknown> = Promise.resolve()
  const { promise: followed, resolve: follow } = Promise.withResolvers<void>()
  /** The session and those that do tasks for it. */
  let family = new Set<string>()
  const waiting = createWaitingPrompts(changed, returned)
  let busySince: number | undefined
  const approval = createApproval({ client, preset: first.preset, session: () => session, changed: take })

  /** `tasks`: the sessions that do tasks for it now. */
  function use(next: Session, tasks: readonly Session[] = []): void {
    session = next
    family = new Set([next.id, ...tasks.map(({ id }) => id)])
    waiting.clear()
    creating = undefined
    approval.follow(next.mode)
    void approval.read().then(changed, () => {})
    agent = next.agent
    model = next.model ?? model
    busySince = isWorking(next) ? Date.now() : undefined
    changed()
  }

  /** The next prompt begins a new session. */
  function leave(): void {
    session = undefined
    family = new Set()
    waiting.clear()
    creating = undefined
    approval.begin()
    busySince = undefined
    changed()
  }

  async function current(): Promise<Session> {
    if (session) return session
    creating ??= create().finally(() => {
      creating = undefined
    })
    return creating
  }

  async function create(): Promise<Session> {
    // A session that is opened is read. Of a new one, only events tell.
    await followed
    const made = await client.createSession({ ...(agent ? { agent } : {}), ...(model ? { model } : {}) })
    session = made
    family.add(made.id)
    approval.begin()
    await approval.apply()
    return made
  }

  async function send(text: string, parts: Attachment[] = []): Promise<void> {
    const entry = waiting.add({ text, parts })
    const wasBusy = busySince !== undefined
    busySince ??= Date.now()
    changed()
    // One after the other: the first one takes longer, if it begins the session.
    const answered = sending.then(() => post({ text, parts }, wasBusy))
    sending = answered.catch(() => {})
    try {
      waiting.name(entry, (await answered).promptId)
    } catch (error) {
      if (!wasBusy) busySince = undefined
      waiting.remove(entry)
      returned({ text, parts })
      throw error
    }
  }

  async function post({ text, parts }: Sent, wasBusy: boolean): Promise<{ promptId: string }> {
    const { id } = await current()
    if (!wasBusy) await approval.catchUp()
    return client.promptSession({
      id,
      text,
      ...(parts.length ? { parts } : {}),
      // The same for every prompt: one with other settings would not join the running one.
      ...settings,
      ...(isSandboxed ? { preset: approval.preset === "sandboxed" ? "sandboxed" : "ask" } : {}),
      whenBusy: "steer",
      prefer: "respond-async",
    })
  }

  /** Runs a command of the person; the model gets it and its output with the next prompt. */
  async function runShell(command: string): Promise<void> {
    const giveBack = () => returned({ text: `!${command}`, parts: [] })
    if (busySince !== undefined) {
      giveBack()
      throw new Error("A turn runs. Send the command again when it is over, or after you have stopped it.")
    }
    busySince = Date.now()
    changed()
    try {
      const { id } = await current()
      await client.runShell({ id, command })
    } catch (error) {
      if (error instanceof ClientError && error.name === "Session.Busy") giveBack()
      throw error
    } finally {
      if (!session || !isWorking(session)) busySince = undefined
      changed()
    }
  }

  /** Takes the last waiting prompt back; undefined if there is none or it has just started. */
  async function withdraw(): Promise<Sent | undefined> {
    const id = session?.id
    if (id !== undefined) return waiting.withdraw((promptId) => client.removePrompt({ id, promptId }))
  }

  async function stop(): Promise<void> {
    if (session && busySince !== undefined) await client.abortSession({ id: session.id })
  }

  /** Events were missed: what is stored tells what happened. If the turn seems to be over, its end is told elsewhere. */
  function catchUp(stored: {
    session: Session
    tasks: readonly Session[]
    messages: readonly Message[]
    prompts: readonly WaitingPrompt[]
  }): void {
    for (const { id } of stored.tasks) family.add(id)
    const skipped = new Set(stored.session.skipped?.map(({ id }) => id))
    waiting.catchUp({
      stored: new Set(stored.prompts.map(({ id }) => id).filter((id) => !skipped.has(id))),
      started: new Set(stored.messages.flatMap(({ promptId }) => promptId ?? [])),
    })
    if (isWorking(stored.session) || busySince === undefined) take(stored.session)
  }

  /** Whether the event is about this session or a task of it. */
  function apply(event: StreamEvent): boolean {
    if (!("payload" in event)) return true
    const payload = event.payload as Partial<{ sessionId: string; session: Session; message: Message }>
    const about = payload.session
    if (about?.taskOf && family.has(about.taskOf.sessionId)) family.add(about.id)
    const id = payload.sessionId ?? about?.id
    if (id !== undefined && !family.has(id)) return false
    if (about && about.id === session?.id) take(about)
    if (id !== session?.id) return true
    if (event.type === "message.created") waiting.begin(payload.message?.promptId)
    if (event.type === "prompt.skipped") {
      waiting.begin(event.payload.prompt.id)
      if (session) take(session)
    }
    if (event.type === "session.error" && isReturned(event.payload)) return false
    if (event.type === "session.idle" || event.type === "session.error") {
      busySince = undefined
      changed()
      void approval.catchUp().catch(() => {})
    }
    return true
  }

  /** Whether a prompt was stopped before it began. */
  function isReturned({ promptId, error }: { promptId?: string; error: { name: string } }): boolean {
    return promptId !== undefined && error.name === "Session.Interrupted" && waiting.stop(promptId)
  }

  function take(next: Session): void {
    if (next.id !== session?.id) return
    if (next.mode !== session.mode) approval.follow(next.mode)
    session = next
    model = next.model ?? next.fallbackModel ?? model
    if (isWorking(next)) busySince ??= Date.now()
    // The session does not know yet of a prompt that is on its way.
    else if (!waiting.all.length) busySince = undefined
    changed()
  }

  async function cycle(): Promise<void> {
    await setPreset(presets[(presets.indexOf(approval.preset) + 1) % presets.length]!)
  }

  async function setPreset(next: Preset): Promise<void> {
    const applied = approval.choose(next)
    changed()
    await applied
  }

  return Object.freeze({
    get session() {
      return session
    },
    get agent() {
      return agent
    },
    get model() {
      return model
    },
    get preset() {
      return approval.preset
    },
    presets,
    presetLabel: () => approval.label({ isBusy: busySince !== undefined, isYes: settings.asks === "once" }),
    get waiting() {
      return waiting.all
    },
    get busySince() {
      return busySince
    },
    /** Events come from now on, or the server cannot be reached. */
    follow,
    use,
    leave,
    current,
    send,
    runShell,
    withdraw,
    stop,
    apply,
    catchUp,
    isOurs: (sessionId: string) => family.has(sessionId),
    acceptedEdits: approval.acceptedEdits,
    cycle,
    setPreset,
    /** From the next prompt on, and for new sessions. */
    async choose(next: { agent?: string; model?: string }) {
      if (session) session = await client.updateSession({ id: session.id, ...next })
      agent = next.agent ?? agent
      model = next.model ?? model
      // Edits were allowed to the agent before.
      if (next.agent !== undefined) approval.begin()
      changed()
      await approval.apply()
    },
  })
}

/** Whether a turn or a command runs. */
export function isWorking({ status }: Session): boolean {
  return status === "busy" || status === "waiting"
}
