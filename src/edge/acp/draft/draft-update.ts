// Converts what version 1 of the protocol says about a session into version 2, which is a draft.
import type {
  AvailableCommand,
  SessionConfigOption,
  SessionUpdate,
  ToolCallContent,
} from "@agentclientprotocol/sdk"
import type * as Draft from "@agentclientprotocol/sdk/experimental/v2"
import { lineDiff } from "#ability/file/line-diff.ts"
import { fence } from "#edge/acp/show/markdown.ts"

type Chunk = Extract<SessionUpdate, { sessionUpdate: keyof typeof wholeMessages }>
type Call = Extract<SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>

const wholeMessages = {
  user_message_chunk: "user_message",
  agent_message_chunk: "agent_message",
  agent_thought_chunk: "agent_thought",
} as const
/** A session has one plan. */
const planId = "plan"

/** Converts the updates of one session, in their order. */
export function createDraftUpdates(): (update: SessionUpdate) => Draft.SessionUpdate[] {
  const seen = new Set<string>()

  /** A message is created whole, and chunks are added to it. */
  function chunk(update: Chunk): Draft.SessionUpdate[] {
    const messageId = update.messageId!
    const { sessionUpdate, content } = update
    const added = { sessionUpdate, messageId, content } as Draft.SessionUpdate
    if (seen.has(messageId)) return [added]
    seen.add(messageId)
    const whole = {
      sessionUpdate: wholeMessages[sessionUpdate],
      messageId,
      content: [],
    } as Draft.SessionUpdate
    return [whole, added]
  }

  return (update) => {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return chunk(update)
      case "tool_call":
      case "tool_call_update":
        return [{ sessionUpdate: "tool_call_update", ...draftCall(update) }]
      case "plan":
        return [{ sessionUpdate: "plan_update", plan: { type: "items", planId, entries: update.entries } }]
      case "available_commands_update":
        return [{ ...update, availableCommands: update.availableCommands.map(draftCommand) }]
      case "config_option_update":
        return [{ ...update, configOptions: update.configOptions.map(draftOption) }]
      // The mode is one of the options.
      case "current_mode_update":
        return []
      default:
        return [update as Draft.SessionUpdate]
    }
  }
}

export function draftCall(call: Call | Omit<Call, "sessionUpdate">): Draft.ToolCallUpdate {
  const { sessionUpdate: _, content, ...rest } = call as Call
  return {
    ...(rest as Draft.ToolCallUpdate),
    ...(content ? { content: content.flatMap(draftContent) } : {}),
  }
}

export function draftCommand({ name, description, input }: AvailableCommand): Draft.AvailableCommand {
  return {
    type: "command",
    name,
    description,
    ...(input ? { input: { type: "text", hint: input.hint } } : {}),
  }
}

export function draftOption({ id, ...option }: SessionConfigOption): Draft.SessionConfigOption {
  return { ...option, configId: id } as Draft.SessionConfigOption
}

/** A patch needs line numbers of the whole file. Where only the changed part is known, it is shown as text. */
function draftContent(content: ToolCallContent): Draft.ToolCallContent[] {
  if (content.type !== "diff") return [content as Draft.ToolCallContent]
  const { path, oldText, newText } = content
  const { diff } = lineDiff(oldText ?? "", newText, { isWhole: true })
  if (typeof oldText === "string") {
    const text = fence(diff.replaceAll(/^@@ .*\n/gm, ""), "diff")
    return [
      { type: "diff", changes: [{ operation: "modify", path }] },
      { type: "content", content: { type: "text", text } },
    ]
  }
  const head = `diff --git ${path} ${path}\nnew file mode 100644\n--- /dev/null\n+++ ${path}\n`
  const patch = { format: "git_patch", text: head + diff } as const
  return [{ type: "diff", changes: [{ operation: "add", path }], patch }]
}
