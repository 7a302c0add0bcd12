// What the messages of a session keep for its guards. The first result after some calls were offered says which ones, in which
// order, and what blocked them. The result of a task says how its calls ended.
import type * as Message from "#knowledge/message/message.ts"

export type Blocking = { guard: string; reason: string }
/** `by`: the guards that blocked the call. `approved`: a person said yes to the question of a guard. */
export type Offered = { call: string; needs: readonly string[]; by?: readonly Blocking[]; approved?: true }
/** A result in a task, or what the task used. */
export type TaskResult = {
  type: string
  needs: readonly string[]
  exit?: number
  tokens?: number
  cost?: number
}
export type Kept = { offered?: readonly Offered[]; tasks?: readonly TaskResult[] }

/** What is kept of a guard that blocks. */
export function blockingOf({ guard, reason }: Blocking): Blocking {
  return { guard, reason }
}

export function keptOf({ data }: Message.Of<"tool_result">): Kept {
  return (data.metadata?.guards ?? {}) as Kept
}

/** The same result with what the guards keep. */
export function withKept<T extends Message.Of<"tool_result">["data"]>(data: T, kept: Kept): T {
  if (!kept.offered && !kept.tasks) return data
  return { ...data, metadata: { ...data.metadata, guards: kept as unknown as Message.JsonObject } }
}
