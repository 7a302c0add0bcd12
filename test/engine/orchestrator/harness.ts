// A scripted model that answers by the agent that asks: the system prompt tells which one it is.
import type { Message } from "#index.ts"
import type { Reply, Request } from "../../fixture/fake-llm.ts"
import { resultsOf } from "../session/harness.ts"

export type Scripts = Record<string, (request: Request, turn: number) => Reply>

/** `turn`: how often this agent was asked before. */
export function byAgent(scripts: Scripts): (request: Request) => Reply {
  const turns = new Map<string, number>()
  return (request) => {
    const [, agent = "?"] = /You are the (\w+)\./.exec(request.system) ?? []
    const turn = turns.get(agent) ?? 0
    turns.set(agent, turn + 1)
    const script = scripts[agent]
    if (!script) throw new Error(`there is no script for ${agent}`)
    return script(request, turn)
  }
}

/** The task that a specialist was given. */
export function taskIn({ messages }: Request): string {
  return messages.find(({ role }) => role === "user")?.text ?? ""
}

export function reject(agent: string): string {
  return `[REJECT] This task requires ${agent}. I handle: other things.`
}

export function outputsOf(messages: Message.Info[]): string[] {
  return resultsOf(messages).map(({ output, error }) => String(error?.message ?? output))
}
