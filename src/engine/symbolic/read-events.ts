// Derives the events of a session from its messages, in the order in which the guards saw them. A program that is told these
// events is where it was, after a crash, on a branch and in a fork.
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Message from "#knowledge/message/message.ts"
import {
  actionOf,
  approvalOf,
  type Deed,
  type GuardEvent,
  needsOf,
  plainEvent,
  resultOf,
} from "./guard-event.ts"
import { type Blocking, type Kept, keptOf } from "./guard-record.ts"
import { createResults } from "./result-events.ts"

/** An event, and where the session has it. `blocked`: guards blocked it, so it has not happened. */
export type Told = { event: GuardEvent; message: Message.Info; blocked?: readonly Blocking[] }
export type Reader = Readonly<{
  /** Messages must be passed in order. */
  read(message: Message.Info): void
  /** The call was offered live, so its messages add only the result. */
  skip(callId: string, deed: Deed | "blocked"): void
  /** The same for the final answer that was read last. */
  skipAnswer(): void
  /** No message follows. */
  end(): void
}>

export const noteKind = "guard"

export function createReader(listener: (told: Told) => void): Reader {
  /** The calls of the last request. */
  let calls = new Map<string, Message.Call>()
  const offered = new Map<string, Deed | "blocked">()
  const results = createResults()
  /** A text that is the final answer if no call of the same turn follows. */
  let answer: Message.Info | undefined
  return Object.freeze({
    read,
    skip: (callId: string, deed: Deed | "blocked") => void offered.set(callId, deed),
    skipAnswer() {
      answer = undefined
    },
    end: () => endAnswer(undefined),
  })

  function tell(told: Told): void {
    if (!told.blocked) results.hear(told.event)
    listener(told)
  }

  function read(message: Message.Info): void {
    endAnswer(message)
    switch (message.type) {
      case "text":
        if (message.data.role === "user") tell({ event: plainEvent("prompt"), message })
        else if (isWhole(message)) answer = message
        break
      case "tool_request":
        calls = new Map(message.data.calls.map((call) => [call.id, call]))
        break
      case "tool_result":
        readResult(message)
        break
      case "system_control":
        readControl(message)
        break
      case "file_reference":
        if (message.data.status === "resolved")
          tell({ event: resultOf(readingOf(message.data.path), { hasFailed: false }), message })
    }
    const { usage } = message
    if (usage) tell({ event: usageOf(usage.input + usage.output, usage.cost ?? 0), message })
  }

  /** What follows a text says whether it was the final answer, and whether a guard held it back. */
  function endAnswer(next: Message.Info | undefined): void {
    const message = answer
    answer = undefined
    if (!message || (next?.type === "tool_request" && next.parentId === message.id)) return
    const blocked = next && blockedAnswer(next)
    tell({ event: plainEvent("answer"), message, ...(blocked ? { blocked } : {}) })
  }

  function readResult(message: Message.Of<"tool_result">): void {
    const kept = keptOf(message)
    for (const one of kept.offered ?? []) readOffer(one, message)
    for (const { type, needs, exit, tokens, cost } of kept.tasks ?? [])
      tell({
        event: tokens === undefined ? taskResult(type, needs, exit) : usageOf(tokens, cost ?? 0),
        message,
      })
    const { requestId } = message.data
    const call = calls.get(requestId)
    const known = offered.get(requestId)
    offered.delete(requestId)
    if (!call || known === "blocked") return
    const deed = known ?? unknownDeed(call)
    if (!known) tell({ event: actionOf(deed), message })
    tell({ event: results.eventOf(deed, message.data, call.approval === "denied"), message })
  }

  function readOffer(one: NonNullable<Kept["offered"]>[number], message: Message.Info): void {
    const call = calls.get(one.call)
    if (!call || offered.has(one.call)) return
    const deed = { tool: call.name, needs: one.needs, args: call.arguments }
    const event = actionOf(deed)
    if (one.approved) tell({ event: approvalOf(event), message })
    tell({ event, message, ...(one.by ? { blocked: one.by } : {}) })
    offered.set(one.call, one.by ? "blocked" : deed)
  }

  function readControl(message: Message.Of<"system_control">): void {
    const { control, parameters } = message.data
    if (control !== "mode_change" && control !== "mode_blocked") return
    const event = plainEvent("mode", { target: String(parameters.to) })
    const blocked = control === "mode_blocked" && { blocked: parameters.by as unknown as Blocking[] }
    tell({ event, message, ...blocked })
  }
}

/** The events of a whole session. */
export function eventsOf(messages: Iterable<Message.Info>): Told[] {
  const found: Told[] = []
  const reader = createReader((told) => found.push(told))
  for (const message of messages) reader.read(message)
  reader.end()
  return found
}

function isWhole({ data }: Message.Of<"text">): boolean {
  const { role, finish } = data
  return role === "assistant" && finish !== undefined && finish !== "interrupted" && finish !== "error"
}

/** The note to the model after a final answer that guards held back. */
function blockedAnswer(message: Message.Info): readonly Blocking[] | undefined {
  if (message.type !== "text" || message.data.origin?.kind !== noteKind) return undefined
  const { name, by } = message.data.origin
  return by ?? [{ guard: name, reason: Message.textOf(message) }]
}

/** A call of a session that had no guards then: as far as the tools that exist now tell. */
function unknownDeed({ name, arguments: args }: Message.Call): Deed {
  const tool = ToolRegistry.find(name)
  try {
    const needs = tool?.permission?.(args, { sessionId: "" }) ?? []
    if (tool) return { tool: name, args, needs: needsOf({ tool, needs }) }
  } catch {
    // Arguments that the tool refused then.
  }
  return { tool: name, args, needs: [] }
}

function readingOf(path: string): Deed {
  const needs = [{ permission: "file.read", target: path }]
  return { tool: "read", needs: needsOf({ tool: { id: "read" }, needs }) }
}

function taskResult(type: string, needs: readonly string[], exitCode: number | undefined): GuardEvent {
  const hasFailed = type.endsWith(".failed")
  const tool = type.slice(0, type.lastIndexOf("."))
  return resultOf({ tool, needs }, { hasFailed, ...(exitCode === undefined ? {} : { exitCode }) })
}

function usageOf(tokens: number, cost: number): GuardEvent {
  return plainEvent("usage", { tokens, cost })
}
