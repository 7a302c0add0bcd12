// An agent for the outside: one folder, prompts that go in, events that come out. The command line, the server, ACP and MCP
// prompt through `process` and nothing else, and so do programs that embed vitamin.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import type { MCPRegistry } from "#ability/mcp/load-registry.ts"
import type { Input, Setting } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { startParts, users } from "./bootstrap.ts"

/** The folder that the agent works in, and the settings of its prompts, which each prompt may override. */
export type AgentConfig = { directory: string } & Pick<Input, Setting>
/** Without a session, a new one begins. */
export type AgentInput = Omit<Input, "sessionId" | "parent"> & { sessionId?: string }
/** An event of the session, or of a session that does a task for it. */
export type AgentOutput = Bus.Event
export type Capability = Pick<AgentDefinition, "id" | "name" | "domain" | "role" | "capabilities">

/** A prompt that is sent once: when it is iterated, or when its answer is asked for. Leaving the loop aborts it. */
export type Processing = AsyncIterable<AgentOutput> & {
  /** The final message of the model. */
  answer(): Promise<Message.Info>
  /** Store the prompt and return when it survives the end of this process. */
  accept(): Promise<{ promptId: string }>
}

export type Agent = Readonly<{
  process(input: AgentInput): Processing
  /** What its agents can do; known from `start` on. */
  capabilities(): Capability[]
  /** The tools, resources and prompts of its MCP servers; there from `start` on. */
  readonly mcp: MCPRegistry
  start(): Promise<void>
  /** Interrupts its prompts, and disposes of the folder's instance if no other agent uses it. */
  stop(): Promise<void>
}>

class NotStarted extends NamedError {
  constructor(what: string) {
    super("Agent.NotStarted", `${what} is known after "await agent.start()".`)
  }
}

class AlreadySent extends NamedError {
  constructor() {
    super("Agent.AlreadySent", "This prompt was sent already. Call agent.process() for another one.")
  }
}

type Started = {
  registry: MCPRegistry
  capabilities: Capability[]
  users: ReturnType<typeof users>
  release: () => void
}
/** Sends the prompt: `work` gets its input. */
type Send = <T>(ending: AbortController, work: (input: Input) => Promise<T>) => Promise<T>

export async function createAgent({ directory, ...usual }: AgentConfig): Promise<Agent> {
  let started: Started | undefined
  let starting: Promise<Started> | undefined
  let used: ReturnType<typeof users> | undefined
  const running = new Map<AbortController, Promise<unknown>>()

  function inFolder<T>(fn: () => Promise<T>): Promise<T> {
    return Instance.provide({ directory, init: startParts, fn })
  }

  /** Does the work of one prompt. `stop` interrupts it through its controller. */
  function run<T>(ending: AbortController, work: () => Promise<T>): Promise<T> {
    const done = inFolder(async () => {
      const here = users()
      used = here
      here.agents++
      try {
        return await work()
      } finally {
        here.agents--
      }
    })
    const over = done.catch(() => {}).finally(() => running.delete(ending))
    running.set(ending, over)
    return done
  }

  function process(input: AgentInput): Processing {
    let isSent = false
    const send: Send = (ending, work) =>
      run(ending, async () => {
        if (isSent) throw new AlreadySent()
        isSent = true
        const { sessionId, ...rest } = { ...usual, ...input }
        const signal = rest.signal ? AbortSignal.any([ending.signal, rest.signal]) : ending.signal
        return work({ ...rest, signal, sessionId: sessionId ?? (await Session.create(namesOf(rest))).id })
      })
    return {
      answer: () => send(new AbortController(), Session.prompt),
      accept: () =>
        new Promise((resolve, reject) => {
          const accepted = send(new AbortController(), async (input) => {
            const { promptId, answered } = await Session.accept(input)
            resolve({ promptId })
            await answered
          })
          accepted.catch(reject)
        }),
      [Symbol.asyncIterator]: () => outputs(send),
    }
  }

  async function start(): Promise<void> {
    starting ??= inFolder(load)
    started = await starting
  }

  async function stop(): Promise<void> {
    const before = await starting?.catch(() => undefined)
    starting = undefined
    started = undefined
    before?.release()
    for (const ending of running.keys()) ending.abort(Session.runtimeStops)
    await Promise.all(running.values())
    // The instance of `start` may be gone, and that of a later prompt up.
    const here = [used, before?.users].find((one) => one?.isUp)
    if (here && !here.agents && !here.bootstraps) await inFolder(() => Instance.dispose())
  }

  return Object.freeze({
    process,
    start,
    stop,
    capabilities() {
      if (!started) throw new NotStarted("What the agent can do")
      return started.capabilities
    },
    get mcp() {
      if (!started) throw new NotStarted("The MCP registry")
      return started.registry
    },
  })
}

async function load(): Promise<Started> {
  const AgentRegistry = await import("#ability/agent/agent-registry.ts")
  const { loadRegistry } = await import("#ability/mcp/load-registry.ts")
  await AgentRegistry.load()
  const capabilities = AgentRegistry.list().map(({ id, name, domain, role, capabilities }) => ({
    id,
    name,
    domain,
    role,
    capabilities,
  }))
  const registry = await loadRegistry()
  const here = users()
  const free = Instance.hold()
  here.agents++
  const release = () => {
    here.agents--
    free()
  }
  return { registry, capabilities, users: here, release }
}

async function* outputs(send: Send): AsyncGenerator<AgentOutput, void> {
  const waiting: AgentOutput[] = []
  const leaving = new AbortController()
  let wake = Promise.withResolvers<void>()
  let isOver = false
  const work = send(leaving, async (input) => {
    const stop = follow(input.sessionId, (event) => {
      waiting.push(event)
      wake.resolve()
    })
    try {
      return await Session.prompt(input)
    } finally {
      stop()
    }
  }).finally(() => {
    isOver = true
    wake.resolve()
  })
  // Its error is thrown below, after the events that came before it.
  work.catch(() => {})
  try {
    while (!isOver || waiting.length) {
      for (let event = waiting.shift(); event; event = waiting.shift()) yield event
      if (isOver) break
      await wake.promise
      wake = Promise.withResolvers()
    }
    await work
  } finally {
    leaving.abort()
    await work.catch(() => {})
  }
}

/** The events of a session, and of those that do tasks for it. */
function follow(sessionId: string, take: (event: AgentOutput) => void): () => void {
  const sessions = new Set([sessionId])
  return Bus.subscribe("*", (event) => {
    const { sessionId, session } = event.payload as { sessionId?: string; session?: Session.Info }
    if (session?.taskOf && sessions.has(session.taskOf.sessionId)) sessions.add(session.id)
    if (sessionId !== undefined && sessions.has(sessionId)) take(event)
  })
}

function namesOf({ agent, model }: Pick<Input, "agent" | "model">) {
  return { ...(agent ? { agent } : {}), ...(model ? { model } : {}) }
}
