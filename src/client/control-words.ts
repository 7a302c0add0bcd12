// Changes of a session, and what guards blocked in it, in words. The words are not escaped.

type Control = { control: string; parameters?: unknown }

const ways = new Map([
  ["cut", "long results shortened"],
  ["model", "with a summary by the model"],
  ["extract", "with a summary made from the messages"],
])

/** An action that a guard blocked. */
export function blockedText({
  action,
  guard,
  reason,
}: Record<"action" | "guard" | "reason", string>): string {
  return `guard "${guard}" ${action === "answer" ? "held back the answer" : `blocked ${action}`}: ${reason}`
}

/** The parameters are not trusted: they may come from an import or a later version. */
export function controlWords({ control, parameters }: Control): string {
  const given = new Map(
    typeof parameters === "object" && parameters !== null ? Object.entries(parameters) : [],
  )
  const say = (name: string) => String(given.get(name) ?? "?")
  switch (control) {
    case "mode_blocked":
      return `mode: ${say("from")}; a guard blocked the change to ${say("to")}`
    case "mode_change":
      return `mode: ${say("from")} → ${say("to")}`
    case "branch_switch":
      return `branch: ${say("from")} → ${say("to")}, from ${given.get("at") === null ? "the beginning" : say("at")} on`
    case "revert":
      return `reverted: ${say("to")} and what came after it`
    case "compaction":
      return `compacted: about ${say("tokensBefore")} tokens became ${say("tokensAfter")} (${ways.get(say("by")) ?? say("by")})`
    default:
      return `${control} ${JSON.stringify(parameters)}`
  }
}
