// A session that a client has open: its events are sent to the client, and questions of the session are asked there. The
// instance of the session's folder is kept alive until the session is closed.
import { AsyncLocalStorage } from "node:async_hooks"
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk"
import * as Browsers from "#ability/browser/browsers.ts"
import type * as Elicitation from "#ability/elicitation/elicitation.ts"
import { setSessionServers } from "#ability/mcp/if-configured.ts"
import type { Added } from "#ability/mcp/load-servers.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Jobs from "#ability/shell/jobs.ts"
import { createCommandReporter } from "#edge/acp/update/report-commands.ts"
import { parseOption, type SessionOptions, sessionOptions } from "#edge/acp/update/session-options.ts"
import { followSession, replay } from "#edge/acp/update/updates.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { clientEditor } from "./client-editor.ts"
import { askPermission } from "./permission.ts"
import { runTurn, type Serving, storeTurn } from "./run-turn.ts"
import { createSessionQueue } from "./session-queue.ts"

export type Opening = {
  session: Session.Info
  /** MCP servers that the client sent for this session. */
  servers: readonly Added[]
  /** Folders beside the one of the session, as real paths. */
  directories: readonly string[]
  client: AgentContext
  capabilities: ClientCapabilities
  serving: Serving
  /** Send the history before anything else. */
  isReplayed: boolean
  /** Also report the prompts of this client. */
  reportsPrompts?: boolean | undefined
}
export type OpenSession = Readonly<{
  options(): Promise<SessionOptions>
  /** Send the slash commands to the client. */
  reportCommands(): Promise<void>
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason>
  cancel(): void
  /** Takes effect with the next prompt. */
  setOption(configId: string, value: unknown): Promise<void>
  /** Abort the running prompts and wait for their end. */
  stop(): Promise<void>
  /** Like `stop`, and also ends background jobs and the client's MCP servers. `why` is the abort reason of the prompts. */
  close(why?: string): Promise<void>
}>

const maxTaskDepth = 50
/** Milliseconds for which it is known that a person may use the session. */
const accessFor = 1_000

/** Must be called inside the instance of the session's folder. */
export async function openSession(opening: Opening): Promise<OpenSession> {
  const { session, client, capabilities, serving } = opening
  const { id } = session
  const inside = AsyncLocalStorage.snapshot()
  /** Running and waiting prompts, by the function that aborts them. */
  const turns = new Map<(why?: string) => void, Promise<unknown>>()
  const queue = createSessionQueue(id)
  const person = Person.limited()
  let checkedAt = performance.now()

  const send = (update: SessionUpdate) => {
    endIfHidden()
    void client
      .notify(methods.client.session.update, { sessionId: id, update })
      .catch((error) => Log.debug("an update was not sent", { error: errorText(error) }))
  }
  const commands = createCommandReporter({ sessionId: id, inside, send })
  if (opening.isReplayed) await replay({ sessionId: id, send, client: capabilities })
  await setSessionServers(id, opening.servers)
  const release = Instance.hold()
  const following = followSession({
    sessionId: id,
    send,
    client: capabilities,
    pendingOptions: queue.pendingOptions,
    skipped: session.skipped,
    reportsPrompts: opening.reportsPrompts,
  })
  const { isShown, showTerminal: show } = following.calls
  const editor = clientEditor({ client, capabilities, sessionId: id, isShown, show })
  const stops = [
    following.stop,
    Bus.subscribe(Permission.Requested, (request) => void askForPermission(request).catch(warn)),
    // Subscribed by event name: importing the definitions would load the MCP code even if no server is configured.
    Bus.subscribe("*", ({ type, payload }) => {
      if (type === "elicitation.requested") void askForServer(payload as Elicitation.Request).catch(warn)
      if (type === "mcp.changed" || type === "config.changed") void commands.refresh()
    }),
    commands.stop,
    release,
  ]

  /** The owner of the session may end the share while the client has it open, also in another process. */
  function endIfHidden(): void {
    const now = performance.now()
    if (!person || now - checkedAt < accessFor) return
    checkedAt = now
    void inside(() => Session.getFor(id, "member")).catch(() => inside(() => close()).catch(warn))
  }

  async function askForPermission(request: Permission.Request): Promise<void> {
    if (await isFor(id, request.sessionId))
      await askPermission({ client, sessionId: id, request, editor, abort: cancel })
  }

  async function askForServer(request: Elicitation.Request): Promise<void> {
    // If a server does not say for which session it asks, every session with a running prompt takes the question.
    // It may be the question of another person's session, though, so that people are not asked.
    const isMine =
      request.sessionId === undefined ? turns.size > 0 && !person : await isFor(id, request.sessionId)
    if (!isMine) return
    const { askElicitation } = await import("./elicitation.ts")
    await askElicitation({ client, capabilities, sessionId: id, request })
  }

  async function prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const turn = new AbortController()
    // Abort listeners run synchronously and need the instance.
    const stop = (why = "it was aborted") => inside(() => turn.abort(why))
    const cancel = () => stop()
    signal.addEventListener("abort", cancel, { once: true })
    const stored = turns.size ? inside(() => storeTurn(id, blocks)) : undefined
    const run = async () => {
      // A cancellation that came together with the prompt is delivered first, so that no model is asked.
      await new Promise(setImmediate)
      const { directories } = opening
      return runTurn({ sessionId: id, blocks, serving, editor, directories, signal: turn.signal, stored })
    }
    // The client must have every update before it gets the response.
    const flush = () => Promise.all([commands.refresh(), following.flushed()])
    const work = inside(() => queue.run(run).finally(flush))
    turns.set(stop, work)
    let error: unknown
    try {
      return await work
    } catch (thrown) {
      error = thrown
      throw thrown
    } finally {
      if (stored) await inside(() => Session.releasePrompt(stored, { signal: turn.signal, error }))
      turns.delete(stop)
      signal.removeEventListener("abort", cancel)
    }
  }

  function cancel(): void {
    for (const stop of turns.keys()) stop()
  }

  async function options(): Promise<SessionOptions> {
    const now = await Session.get(id)
    return sessionOptions({ ...now, ...queue.pendingOptions() })
  }

  async function stop(why?: string): Promise<void> {
    for (const stop of turns.keys()) stop(why)
    await Promise.allSettled(turns.values())
    await queue.settled()
  }

  /** In parallel: each of them may have to wait for a process that does not end. */
  async function close(why?: string): Promise<void> {
    const ended = await Promise.allSettled([
      stop(why),
      Jobs.end(id),
      Browsers.end(id),
      setSessionServers(id, []),
      Session.leave(id, "other"),
    ])
    for (const end of stops) end()
    for (const result of ended) if (result.status === "rejected") throw result.reason
  }

  return Object.freeze({
    options: () => inside(options),
    reportCommands: commands.refresh,
    prompt,
    cancel,
    setOption: async (configId: string, value: unknown) => {
      const change = parseOption(configId, value)
      await inside(() => queue.setOption(change))
    },
    stop: () => inside(() => stop()),
    close: (why?: string) => inside(() => close(why)),
  })
}

/** Whether session `asking` is session `id` or one of its subtasks. */
async function isFor(id: string, asking: string): Promise<boolean> {
  for (let [at, depth] = [asking, 0]; depth < maxTaskDepth; depth++) {
    if (at === id) return true
    const { taskOf } = await Session.get(at)
    if (!taskOf) return false
    at = taskOf.sessionId
  }
  return false
}

function warn(error: unknown): void {
  Log.warn("a question could not be passed to the ACP client", { error: errorText(error) })
}
