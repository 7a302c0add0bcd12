// Renders the pins, which survive every compaction: what the person wrote, the plan, open and refused questions, the
// files in work. They are rendered once per compaction and then never change; later changes are in the transcript
// after them.
import type * as Permission from "#ability/permission/permission.ts"
import { oneLine, section } from "#engine/run/fit-tokens.ts"
import type * as Memory from "#knowledge/memory/memory.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import type * as Message from "#knowledge/message/message.ts"
import { renderWords } from "./render-words.ts"

export type Pins = {
  /** State of the whole history. */
  state: Memory.State
  /** Whether a message of the person is still in the transcript. */
  isShown(message: Message.Info): boolean
  /** The plan as its store renders it; empty if there is none. */
  plan: string
  mode: "act" | "plan"
  pending: readonly Permission.Request[]
  /** Tokens. */
  budget: number
}

/** The largest share of the budget for each part. The person's words get what the others do not need. */
const shares = { plan: 0.2, calls: 0.1, files: 0.1, references: 0.05 }
/** Names from models and files are put on one line, so that they cannot look like another part. */
const longest = { path: 300 }

export function renderPins(pins: Pins): string {
  const { state, budget, mode, isShown } = pins
  const [title = "", ...steps] = pins.plan.split("\n")
  const changed = state.files.filter((file) => file.changed > 0).reverse()
  const others = [
    ...(mode === "plan" ? ["The session was in plan mode when this was written."] : []),
    ...section(title, steps, budget * shares.plan),
    ...section("Not decided by the person, and so not done:", waitingLines(pins), budget * shares.calls),
    ...section(
      "Calls that were refused, the newest first:",
      state.refused.map(callLine).reverse(),
      budget * shares.calls,
    ),
    ...section(
      "Files changed in this session, the newest first; read them again before a change:",
      changed.map(fileLine),
      budget * shares.files,
    ),
    ...section(
      "Files that the person pointed at:",
      state.references.map(referenceLine).reverse(),
      budget * shares.references,
    ),
    ...section(
      "Resources of MCP servers that were shown and are not any more:",
      goneResources(pins),
      budget * shares.references,
    ),
  ]
  const tokens = budget - others.reduce((sum, text) => sum + estimateTokens(text), 0)
  return [...renderWords(state.words, { isShown, tokens }), ...others].join("\n\n")
}

function waitingLines({ state, pending }: Pins): string[] {
  return [
    ...pending.map(({ title }) => `- ${oneLine(title, 300)}`),
    ...state.undecided.map(callLine).reverse(),
  ]
}

function callLine({ name, arguments: given, invalid }: Message.Call): string {
  return `- ${name} ${oneLine(invalid ?? JSON.stringify(given), 300)}`
}

function fileLine({ path, changed, last }: Memory.State["files"][number]): string {
  return `- ${oneLine(path, longest.path)}, ${changed}×, last: ${oneLine(last, 120)}`
}

/** Each name once, without those that the later part shows again. */
function goneResources({ state, isShown }: Pins): string[] {
  const shown = new Set(state.resources.filter(isShown).flatMap(resourceName))
  const gone = new Set(state.resources.flatMap(resourceName).filter((name) => !shown.has(name)))
  return [...gone].map((name) => `- ${name}`).reverse()
}

/** The name as a person would attach it; none for other messages, and for a resource that could not be read. */
export function resourceName({ type, data }: Message.Info): string[] {
  if (type !== "mcp_resource" || data.error !== undefined) return []
  return [oneLine(`${data.serverName}:${data.resourceUri}`, longest.path)]
}

function referenceLine({ data }: Message.Of<"file_reference">): string {
  const { path, startLine, endLine, status } = data
  const lines = startLine === undefined && endLine === undefined ? "" : `:${startLine ?? 1}-${endLine ?? ""}`
  return `- ${oneLine(path, longest.path)}${lines}${status === "failed" ? " (could not be read)" : ""}`
}
