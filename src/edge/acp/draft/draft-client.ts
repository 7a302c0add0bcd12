// A client of version 2 for code that speaks version 1: it converts updates and questions, and reports the state of each
// session. A prompt is answered when its message is in the session; the state says how the work ends.
import {
  type AgentContext,
  type AvailableCommand,
  type ClientCapabilities,
  methods as first,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk"
import {
  type AgentContext as DraftContext,
  type SessionUpdate as DraftUpdate,
  methods,
} from "@agentclientprotocol/sdk/experimental/v2"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { createDraftUpdates, draftCall } from "./draft-update.ts"

type State = {
  convert: (update: SessionUpdate) => DraftUpdate[]
  /** Prompts that wait until their message is in the session, the oldest first. */
  waiting: ((messageId: string) => void)[]
  /** The last message of the person. */
  promptId?: string
  isRunning: boolean
  /** Set while the commands go into a response. */
  commands?: AvailableCommand[] | undefined
}
export type Ending =
  | { stopReason: StopReason }
  | { stopReason: "error"; error: { code: number; message: string } }

export type DraftClient = ReturnType<typeof createDraftClient>

export function createDraftClient(client: DraftContext) {
  const states = new Map<string, State>()

  function stateOf(sessionId: string): State {
    const state = states.get(sessionId) ?? { convert: createDraftUpdates(), waiting: [], isRunning: false }
    states.set(sessionId, state)
    return state
  }

  function send(sessionId: string, update: DraftUpdate): void {
    client
      .notify(methods.client.session.update, { sessionId, update })
      .catch((error) => Log.debug("an update was not sent", { error: errorText(error) }))
  }

  async function notify(_: string, { sessionId, update }: SessionNotification): Promise<void> {
    const state = stateOf(sessionId)
    if (update.sessionUpdate === "available_commands_update" && state.commands) {
      state.commands = update.availableCommands
      return
    }
    if (update.sessionUpdate === "user_message_chunk") takePrompt(sessionId, update.messageId!)
    for (const one of state.convert(update)) send(sessionId, one)
  }

  /** The oldest waiting prompt is the one whose message appears. */
  function takePrompt(sessionId: string, messageId: string): void {
    const state = stateOf(sessionId)
    if (state.promptId === messageId) return
    const inserted = state.waiting.shift()
    if (!inserted) return
    state.promptId = messageId
    begin(sessionId)
    inserted(messageId)
  }

  function begin(sessionId: string): void {
    stateOf(sessionId).isRunning = true
    send(sessionId, { sessionUpdate: "state_update", state: "running" })
  }

  async function request(method: string, params: object, options?: object): Promise<unknown> {
    if (method !== first.client.session.requestPermission)
      return client.request(method as "_other", params, options)
    const { sessionId, toolCall, options: choices } = params as RequestPermissionRequest
    const asked = {
      sessionId,
      title: toolCall.title || "Permission is needed",
      subject: { type: "tool_call" as const, toolCall: draftCall(toolCall) },
      options: choices,
    }
    const state = stateOf(sessionId)
    if (state.isRunning) send(sessionId, { sessionUpdate: "state_update", state: "requires_action" })
    try {
      return await client.request(methods.client.session.requestPermission, asked, options)
    } finally {
      if (state.isRunning) send(sessionId, { sessionUpdate: "state_update", state: "running" })
    }
  }

  /** Resolves with the id of the prompt's message once it is in the session. */
  function expectPrompt(sessionId: string): { inserted: Promise<string>; drop(): boolean } {
    const { promise: inserted, resolve } = Promise.withResolvers<string>()
    const { waiting } = stateOf(sessionId)
    waiting.push(resolve)
    const drop = () => {
      const at = waiting.indexOf(resolve)
      if (at >= 0) waiting.splice(at, 1)
      return at >= 0
    }
    return { inserted, drop }
  }

  function end(sessionId: string, ending: Ending): void {
    stateOf(sessionId).isRunning = false
    send(sessionId, { sessionUpdate: "state_update", state: "idle", ...ending } as DraftUpdate)
  }

  /** The commands that `report` would send. */
  async function commandsOf(sessionId: string, report: () => Promise<void>): Promise<AvailableCommand[]> {
    const state = stateOf(sessionId)
    state.commands = []
    await report()
    const { commands } = state
    state.commands = undefined
    return commands
  }

  return Object.freeze({
    /** For code of version 1. */
    context: { notify, request } as unknown as AgentContext,
    begin,
    send,
    expectPrompt,
    end,
    commandsOf,
    forget: (sessionId: string) => void states.delete(sessionId),
  })
}

/** In version 2 every client shows notices and compactions, and none offers files or terminals. */
export function firstCapabilities(
  capabilities: { auth?: { terminal?: object | null } | null; elicitation?: object | null } | undefined,
): ClientCapabilities {
  const { auth, elicitation } = capabilities ?? {}
  return {
    auth: { terminal: Boolean(auth?.terminal) },
    session: { compaction: {}, notices: {} },
    ...(elicitation ? { elicitation } : {}),
  }
}
