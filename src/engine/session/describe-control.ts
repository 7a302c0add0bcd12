// Describes a control message in one line for people. Its parameters are not trusted: they may come from an import or a
// later version.
import * as Log from "#kernel/process/log.ts"
import type * as Message from "#knowledge/message/message.ts"

const longest = 200
const ways = new Map([
  ["cut", "long results shortened"],
  ["model", "with a summary by the model"],
  ["extract", "with a summary made from the messages"],
])

export function describeControl({ control, parameters }: Message.Of<"system_control">["data"]): string {
  const line = Log.escapeControls(words(control, parameters))
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

function words(control: string, parameters: Message.JsonObject): string {
  const say = (name: string) => String(parameters[name] ?? "?")
  switch (control) {
    case "mode_change":
      return `mode: ${say("from")} → ${say("to")}`
    case "branch_switch":
      return `branch: ${say("from")} → ${say("to")}, from ${parameters.at === null ? "the beginning" : say("at")} on`
    case "revert":
      return `reverted: ${say("to")} and what came after it`
    case "compaction":
      return `compacted: about ${say("tokensBefore")} tokens became ${say("tokensAfter")} (${ways.get(say("by")) ?? say("by")})`
    default:
      return `${control} ${JSON.stringify(parameters)}`
  }
}
