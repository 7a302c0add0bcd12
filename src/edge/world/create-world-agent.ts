// An agent for user interfaces, for programs that embed vitamin: model, tools, guards and browser in one. What it does for a
// prompt can be written down as a trajectory with a reward.
import { resolve } from "node:path"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { checkWorld } from "#ability/world/create-world.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import {
  type Agent,
  type AgentConfig,
  type AgentInput,
  type AgentOutput,
  createAgent,
} from "#engine/host/create-agent.ts"
import { addGuards } from "#engine/symbolic/added-guards.ts"
import { Instance } from "#kernel/instance.ts"
import type { Guards } from "#kernel/schema/schema.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { createRecorder, type Trajectory, writeTrajectory } from "./trajectory.ts"

export type { Reward, Trajectory } from "./trajectory.ts"

export type WorldAgentConfig = Omit<AgentConfig, "agent"> & {
  /** Guards beside those of the configuration; default: `stories-before-answer`. */
  guards?: Guards
  /** Ids of tools beside those for files and stories. */
  tools?: readonly string[]
  /** A file of JSON lines, from the folder: each prompt adds its trajectory. */
  trajectories?: string
}
export type WorldAgentInput = Omit<AgentInput, "agent">
/** A prompt that is sent once, as `Processing` of other agents. `trajectory` is there when the prompt has ended. */
export type WorldProcessing = AsyncIterable<AgentOutput> & {
  answer(): Promise<Message.Info>
  trajectory(): Trajectory
}
export type WorldAgent = Readonly<
  Omit<Agent, "process"> & { process(input: WorldAgentInput): WorldProcessing }
>

const id = "world"
const tools = ["read", "glob", "grep", "ls", "edit", "write", "todo", "world_run"]
const systemPrompt = `You build user interface components. A component has stories: *.stories.ts files beside it, each export with an intent,
a template or a component, args, and a play function that asserts what a person would see.

Read a component and its stories before you change them. After each change run its stories with world_run, and go on until they pass and
axe-core finds no violation. Repair the component, not the story, unless the story is wrong. Write a story for what is new.`

class NotEnded extends NamedError {
  constructor() {
    super("World.NotEnded", "The trajectory is known when the prompt has ended.")
  }
}

class NoAnswer extends NamedError {
  constructor() {
    super("World.NoAnswer", "The prompt ended without an answer.")
  }
}

/** Throws if the folder is not trusted, or if there is no browser. */
export async function createWorldAgent(config: WorldAgentConfig): Promise<WorldAgent> {
  const { guards = { "stories-before-answer": {} }, tools: more = [], trajectories, ...settings } = config
  const { directory } = settings
  await checkWorld(directory)
  const agent = await createAgent({ ...settings, agent: id })

  /** The agent and its guards belong to the instance, which may be another one by now. */
  function prepare(): Promise<void> {
    return Instance.provide({
      directory,
      init: startParts,
      fn: () => {
        const metadata = { description: "Builds components until their stories pass." }
        AgentRegistry.register({ id, mode: "primary", tools: [...tools, ...more], systemPrompt, metadata })
        addGuards(guards)
      },
    })
  }

  function process(input: WorldAgentInput): WorldProcessing {
    const recorder = createRecorder()
    const inner = agent.process(input)
    let ended: Trajectory | undefined

    async function* outputs(): AsyncGenerator<AgentOutput, void> {
      let how: Trajectory["ended"] = "interrupted"
      await prepare()
      try {
        for await (const event of inner) {
          recorder.hear(event)
          yield event
        }
        how = "answered"
      } catch (error) {
        how = "failed"
        throw error
      } finally {
        ended = recorder.end(how)
        if (trajectories !== undefined) await writeTrajectory(resolve(directory, trajectories), ended)
      }
    }

    async function answer(): Promise<Message.Info> {
      for await (const _ of outputs());
      const message = recorder.answer()
      if (!message) throw new NoAnswer()
      return message
    }

    function trajectory(): Trajectory {
      if (!ended) throw new NotEnded()
      return ended
    }

    return { answer, trajectory, [Symbol.asyncIterator]: outputs }
  }

  return Object.freeze({
    directory: agent.directory,
    process,
    capabilities: agent.capabilities,
    get mcp() {
      return agent.mcp
    },
    async start() {
      await prepare()
      await agent.start()
    },
    stop: agent.stop,
  })
}
