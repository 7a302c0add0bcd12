// A session that a client has open: the client hears what happens in it, and its person is asked through it. The
// instance of its folder stands as long.
import { AsyncLocalStorage } from "node:async_hooks"
import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk"
import type * as Elicitation from "#ability/elicitation/elicitation.ts"
import { bringServers } from "#ability/mcp/if-configured.ts"
import type { Added } from "#ability/mcp/load-servers.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Jobs from "#ability/shell/jobs.ts"
import { createCommandNews } from "#edge/acp/update/command-news.ts"
import { type SessionOptions, sessionOptions, wishOf } from "#edge/acp/update/session-options.ts"
import { followSession, replay } from "#edge/acp/update/updates.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { askPermission } from "./permission.ts"
import { type PersonOptions, runTurn, storeTurn } from "./run-turn.ts"
import { createSessionLine } from "./session-line.ts"

export type Opening = {
  session: Session.Info
  /** Those that the client brings with it. */
  servers: readonly Added[]
  client: AgentContext
  capabilities: ClientCapabilities
  person: PersonOptions
  /** First report what has happened in it before. */
  isReplayed: boolean
}
export type OpenSession = Readonly<{
  options(): Promise<SessionOptions>
  /** Tell which slash commands there are. */
  reportCommands(): void
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason>
  cancel(): void
  /** From the next prompt on. */
  setOption(configId: string, value: unknown): Promise<void>
  /** Stops its running work. */
  stop(): Promise<void>
  /** The same, and ends what it started. `why` is the abort reason of its prompts. */
  close(why?: string): Promise<void>
}>

const deepest = 50

/** To be called inside the instance of the session's folder. */
export async function openSession(opening: Opening): Promise<OpenSession> {
  const { session, client, capabilities, person } = opening
  const { id } = session
  const inside = AsyncLocalStorage.snapshot()
  /** How each is stopped. */
  const turns = new Map<(why?: string) => void, Promise<unknown>>()
  const line = createSessionLine(id)

  const send = (update: SessionUpdate) =>
    void client
      .notify(methods.client.session.update, { sessionId: id, update })
      .catch((error) => Log.debug("an update was not sent", { error: errorText(error) }))
  const news = createCommandNews({ sessionId: id, inside, send })
  if (opening.isReplayed) await replay({ sessionId: id, send, client: capabilities })
  await bringServers(id, opening.servers)
  const release = Instance.hold()
  const following = followSession({
    sessionId: id,
    send,
    client: capabilities,
    wished: line.wished,
    skipped: session.skipped,
  })
  const stops = [
    following.stop,
    Bus.subscribe(Permission.Requested, (request) => void askForPermission(request).catch(warn)),
    // By their names: without MCP servers nothing that knows of them is loaded.
    Bus.subscribe("*", ({ type, payload }) => {
      if (type === "elicitation.requested") void askForServer(payload as Elicitation.Request).catch(warn)
      if (type === "mcp.changed" || type === "config.changed") news.look()
    }),
    news.stop,
    release,
  ]

  async function askForPermission(request: Permission.Request): Promise<void> {
    if (await isFor(id, request.sessionId))
      await askPermission({ client, sessionId: id, request, abort: cancel })
  }

  async function askForServer(request: Elicitation.Request): Promise<void> {
    // If it is unknown for which session a server asks, a running one is taken.
    const isMine = request.sessionId === undefined ? turns.size > 0 : await isFor(id, request.sessionId)
    if (!isMine) return
    const { askElicitation } = await import("./elicitation.ts")
    await askElicitation({ client, capabilities, sessionId: id, request })
  }

  async function prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const turn = new AbortController()
    // Listeners need the instance.
    const stop = (why = "it was aborted") => inside(() => turn.abort(why))
    const cancel = () => stop()
    signal.addEventListener("abort", cancel, { once: true })
    const stored = turns.size ? inside(() => storeTurn(id, blocks)) : undefined
    const run = () => runTurn({ sessionId: id, blocks, person, signal: turn.signal, stored })
    const work = inside(() => line.run(run).finally(following.told))
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
      news.look()
    }
  }

  function cancel(): void {
    for (const stop of turns.keys()) stop()
  }

  async function options(): Promise<SessionOptions> {
    const now = await Session.get(id)
    return sessionOptions({ ...now, ...line.wished() })
  }

  async function stop(why?: string): Promise<void> {
    for (const stop of turns.keys()) stop(why)
    await Promise.allSettled(turns.values())
    await line.settled()
  }

  /** All at once: each of them may have to wait for something that does not want to end. */
  async function close(why?: string): Promise<void> {
    const ended = await Promise.allSettled([stop(why), Jobs.end(id), bringServers(id, [])])
    for (const end of stops) end()
    for (const result of ended) if (result.status === "rejected") throw result.reason
  }

  return Object.freeze({
    options: () => inside(options),
    reportCommands: news.look,
    prompt,
    cancel,
    setOption: async (configId: string, value: unknown) => {
      const wish = wishOf(configId, value)
      await inside(() => line.choose(wish))
    },
    stop: () => inside(() => stop()),
    close: (why?: string) => inside(() => close(why)),
  })
}

/** Whether a question belongs to this session: its own, or that of one of its tasks. */
async function isFor(id: string, asking: string): Promise<boolean> {
  for (let [at, depth] = [asking, 0]; depth < deepest; depth++) {
    if (at === id) return true
    const { taskOf } = await Session.get(at)
    if (!taskOf) return false
    at = taskOf.sessionId
  }
  return false
}

function warn(error: unknown): void {
  Log.warn("something in a session of an ACP client did not work", { error: errorText(error) })
}
