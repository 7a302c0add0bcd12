// The public agent of one folder: it takes prompts and returns events. The command line, the server, ACP, MCP and
// programs that embed vitamin all send their prompts through `process`.
import { resolve } from "node:path"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import type { MCPRegistry } from "#ability/mcp/load-registry.ts"
import type { Input, Setting } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { startParts, users } from "./bootstrap.ts"

/** How long `stop` waits for prompts, in milliseconds. After `firstWait` it disposes of the instance, which waits three
 * more seconds. If others use the instance, it waits for `secondWait` instead. `stop` must take less than five seconds
 * in all. */
const firstWait = 1_000
const secondWait = 3_000

/** The folder that the agent works in, and the settings of its prompts, which each prompt may override. */
export type AgentConfig = { directory: string } & Pick<Input, Setting>
/** Without a session, a new one begins. */
export type AgentInput = Omit<Input, "sessionId" | "parent"> & {
  sessionId?: string
  /** Settings that hold if neither the prompt nor the agent has them. */
  otherwise?: Pick<Input, Setting>
}
/** An event of the session, or of a session that does a task for it. */
export type AgentOutput = Bus.Event
export type Capability = Pick<AgentDefinition, "id" | "name" | "domain" | "role" | "capabilities"> & {
  description: string
}

/** A prompt that is sent once: when it is iterated, or when its answer is asked for. Leaving the loop aborts it. */
export type Processing = AsyncIterable<AgentOutput> & {
  /** The final message of the model. */
  answer(): Promise<Message.Info>
  /** Store the prompt and return when it survives the end of this process. */
  accept(): Promise<{ promptId: string }>
}

export type Agent = Readonly<{
  /** The folder that it works in; absolute. */
  directory: string
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

/** This agent as a user of an instance. `end` may be called more than once. */
type Use = { users: ReturnType<typeof users>; end: () => void }
type Started = { registry: MCPRegistry; capabilities: Capability[]; use: Use }
/** A prompt. `use` is set once it has its instance. */
type Running = { ended?: Promise<unknown>; use?: Use }
/** Sends the prompt: `work` gets its input. */
type Send = <T>(ending: AbortController, work: (input: Input) => Promise<T>) => Promise<T>

export async function createAgent({ directory, ...defaults }: AgentConfig): Promise<Agent> {
  let started: Started | undefined
  let starting: Promise<Started> | undefined
  let lastUse: Use | undefined
  const running = new Map<AbortController, Running>()

  function inFolder<T>(fn: () => Promise<T>): Promise<T> {
    return Instance.provide({ directory, init: startParts, fn })
  }

  /** Does the work of one prompt. `stop` interrupts it through its controller. */
  function run<T>(ending: AbortController, work: () => Promise<T>): Promise<T> {
    const prompt: Running = {}
    running.set(ending, prompt)
    const done = inFolder(async () => {
      const use = useInstance()
      lastUse = use
      prompt.use = use
      try {
        return await work()
      } finally {
        use.end()
      }
    })
    prompt.ended = done
      .finally(async () => {
        // If `stop` did not wait for this prompt, it could not dispose of an instance that was created later.
        const isGivenUp = !running.delete(ending)
        if (isGivenUp && isUnused(prompt.use)) await inFolder(() => Instance.dispose())
      })
      .catch(() => {})
    return done
  }

  function process(input: AgentInput): Processing {
    let isSent = false
    const send: Send = (ending, work) =>
      run(ending, async () => {
        if (isSent) throw new AlreadySent()
        isSent = true
        const { sessionId, otherwise: _, ...rest } = { ...input.otherwise, ...defaults, ...input }
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
    before?.use.end()
    const mine = [...running]
    for (const [ending] of mine) ending.abort(Session.runtimeStops)
    const ended = Promise.all(mine.map(([, prompt]) => prompt.ended))
    await waitAtMost(firstWait, ended)
    // A prompt that ignores its signal may never end.
    for (const [ending, { use }] of mine) {
      use?.end()
      running.delete(ending)
    }
    // The instance of `start` may be disposed already, and a later prompt may have created another one.
    if ([lastUse, before?.use].some(isUnused)) await inFolder(() => Instance.dispose())
    else await waitAtMost(secondWait, ended)
  }

  return Object.freeze({
    directory: resolve(directory),
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
  const capabilities = AgentRegistry.list().map(({ id, name, domain, role, capabilities, metadata }) => ({
    id,
    name,
    domain,
    role,
    capabilities,
    description: metadata.description ?? "",
  }))
  return { registry: await loadRegistry(), capabilities, use: useInstance() }
}

function useInstance(): Use {
  const here = users()
  const release = Instance.hold()
  let isOver = false
  here.agents++
  return {
    users: here,
    end() {
      if (!isOver) here.agents--
      isOver = true
      release()
    },
  }
}

/** Whether the instance is up and nobody uses it any more. */
function isUnused(use: Use | undefined): boolean {
  return use?.users.isUp === true && !use.users.agents && !use.users.bootstraps
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
