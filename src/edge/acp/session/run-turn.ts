// Runs one prompt of a client and returns its stop reason. A prompt that the client cancels returns "cancelled" and does
// not throw.
import type { ContentBlock, StopReason } from "@agentclientprotocol/sdk"
import type { Editor } from "#ability/call/editor.ts"
import type * as Permission from "#ability/permission/permission.ts"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import { type AgentSource, plainAgents } from "#engine/host/agent-adapter.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import type { McpServer } from "#kernel/schema/schema.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { orGivenUp } from "#util/wait.ts"
import { promptParts } from "./prompt-parts.ts"

/** How the sessions of a connection are served: the command line options of `vitamin acp`, and where prompts go. */
export type Serving = {
  rules?: readonly Permission.Rule[]
  /** Without it, the agent decides what happens to questions. */
  yes?: boolean
  /** The highest version of the protocol that is served; 1 by default. */
  protocol?: 1 | 2 | undefined
  model?: string | undefined
  agent?: string | undefined
  /** Gives the agent that takes the prompts of a folder, or throws. By default one is created. */
  agentFor?: AgentSource | undefined
  /** MCP servers of every session. A server of the client replaces one with the same id. */
  mcpServers?: readonly McpServer[] | undefined
}

/** The longest timeout of a timer: an editor keeps a question open while the person is away. */
const replyLimit = 2 ** 31 - 1
/** Milliseconds that the agent of an adapter has to end a prompt that was cancelled. */
const patience = 10_000
const stopReasons: Record<string, StopReason> = { length: "max_tokens", "content-filter": "refusal" }

/** Must be called inside the instance of the session's folder. */
export async function runTurn(turn: {
  sessionId: string
  blocks: readonly ContentBlock[]
  serving: Serving
  editor: Editor | undefined
  directories: readonly string[]
  signal: AbortSignal
  /** The stored prompt, if it had to wait for another one. */
  stored?: Session.PromptHandle | undefined
}): Promise<StopReason> {
  const { sessionId, serving, editor, directories, signal, stored } = turn
  try {
    const { words, mentionsIn, attached } = promptParts(turn.blocks)
    const { agentFor = plainAgents } = serving
    const agent = await agentFor(Instance.directory)
    const prompt = agent.process({
      sessionId,
      parts: [{ type: "text", text: words }, ...attached],
      mentionsIn,
      ...settingsOf(serving),
      replyLimit,
      editor,
      directories,
      signal,
      stored,
    })
    const answer = await orGivenUp(prompt.answer(), { signal, after: patience })
    return signal.aborted ? "cancelled" : reasonOf(answer)
  } catch (error) {
    const reason = signal.aborted ? "cancelled" : reasonIn(error)
    if (reason) return reason
    throw error
  }
}

/** The agent of a program keeps its own settings. */
function settingsOf({ yes, rules }: Serving) {
  return {
    ...(yes === undefined ? {} : { asks: yes ? ("once" as const) : ("wait" as const) }),
    ...(rules === undefined ? {} : { rules: [...rules] }),
  }
}

/** Store a prompt that has to wait for earlier prompts of its client. An invalid prompt is not stored; it fails when
 * `runTurn` converts it. */
export function storeTurn(
  sessionId: string,
  blocks: readonly ContentBlock[],
): Session.PromptHandle | undefined {
  try {
    const { words, attached } = promptParts(blocks)
    return Session.storePrompt({ sessionId, parts: [{ type: "text", text: words }, ...attached] })
  } catch (error) {
    if (error instanceof InvalidParams) return undefined
    throw error
  }
}

function reasonOf(answer: Message.Info): StopReason {
  const finish = answer.type === "text" ? answer.data.finish : undefined
  return stopReasons[finish ?? ""] ?? "end_turn"
}

/** The stop reason of an error, if the protocol has one for it. */
function reasonIn(error: unknown): StopReason | undefined {
  if (error instanceof Session.Interrupted) return "cancelled"
  if (!(error instanceof NamedError)) return undefined
  if (error.name === "Session.StepLimit") return "max_turn_requests"
  return stopReasons[String(error.data.finish)]
}
