// The changes of `edit` and `write` as diffs for an editor: before a call runs from its arguments, afterwards from the
// diff that the tool returned.
import { resolve } from "node:path"
import type { ToolCallContent } from "@agentclientprotocol/sdk"
import { argument } from "#client/describe-call.ts"
import type * as Message from "#knowledge/message/message.ts"
import { isPath } from "./call-title.ts"
import { code, firstLine } from "./markdown.ts"

type Call = Pick<Message.Call, "name" | "arguments">
type Change = { oldText: string | null; newText: string }
type Hunk = Change & { line: number }

/** Limit for both sides of all changes of a call. A longer change is left out, since an editor would show a cut text as
 * deleted. */
const maxText = 100_000
const maxChanges = 20
/** How the tools mark a diff or a line that they cut. */
const cut = /^\[the diff is longer\]$|^[-+ ].{300,}…$/m

/** What a call would change. `old` is the current text of the file: null if there is no file, undefined if unknown. */
export function proposedChanges(call: Call, directory: string, old?: string | null): ToolCallContent[] {
  return show(call, directory, changesIn(call, old))
}

/** What a call has changed, and the line of the first change. */
export function appliedChanges(
  call: Call,
  directory: string,
  data: unknown,
): { content: ToolCallContent[]; line?: number } {
  if (call.name !== "edit" && call.name !== "write") return { content: [] }
  const { diff, created } = (data ?? {}) as { diff?: unknown; created?: unknown }
  const hunks = typeof diff === "string" ? hunksOf(diff) : []
  const line = hunks[0]?.line
  const isCut = typeof diff !== "string" || cut.test(diff)
  const isWhole = hunks.length > 0 && !isCut && created !== true
  const wanted = isWhole ? hunks : changesIn(call, created === true ? null : undefined)
  const changes = wanted.length ? wanted : hunks
  const content = show(call, directory, changes)
  const note = changes === hunks && isCut && content.length ? [text("The change is longer than shown.")] : []
  return { content: [...content, ...note], ...(line === undefined ? {} : { line }) }
}

/** The changes in a call's arguments. For `write` there are none if the current text is unknown. */
function changesIn(call: Call, old: string | null | undefined): Change[] {
  if (call.name === "write") {
    const newText = argument(call, "content")
    return typeof newText === "string" && old !== undefined ? [{ oldText: old, newText }] : []
  }
  const edits = call.name === "edit" ? argument(call, "edits") : undefined
  if (!Array.isArray(edits)) return []
  return edits.flatMap((edit) => {
    const { oldText, newText } = (edit ?? {}) as Partial<Change>
    return typeof oldText === "string" && typeof newText === "string" ? [{ oldText, newText }] : []
  })
}

function show(call: Call, directory: string, changes: Change[]): ToolCallContent[] {
  const given = argument(call, "path")
  if (typeof given !== "string" || !isPath(given)) return []
  const path = resolve(directory, given)
  let budget = maxText
  const shown = changes.slice(0, maxChanges).map(({ oldText, newText }): ToolCallContent => {
    const size = (oldText?.length ?? 0) + newText.length
    if (size > budget)
      return text(`A change of ${size} characters, too long to show: ${code(firstLine(given))}`)
    budget -= size
    return { type: "diff", path, oldText, newText }
  })
  const left = changes.length - shown.length
  return left ? [...shown, text(`… and ${left} more changes.`)] : shown
}

/** The hunks of a unified diff, each with its text before and after the change. */
function hunksOf(diff: string): Hunk[] {
  const parts = diff.split(/^@@ -\d+,\d+ \+(\d+),\d+ @@\n/m)
  const hunks: Hunk[] = []
  for (let i = 1; i + 1 < parts.length; i += 2) {
    const lines = parts[i + 1]!.split("\n").slice(0, -1)
    const firstChanged = lines.findIndex((line) => !line.startsWith(" "))
    const [oldText, newText] = [sideOf(lines, "-"), sideOf(lines, "+")]
    hunks.push({ line: Number(parts[i]) + Math.max(0, firstChanged), oldText, newText })
  }
  return hunks
}

function sideOf(lines: string[], sign: "-" | "+"): string {
  let side = ""
  for (const [i, line] of lines.entries())
    if (line.startsWith(" ") || line.startsWith(sign))
      side += lines[i + 1]?.startsWith("\\") ? line.slice(1) : `${line.slice(1)}\n`
  return side
}

function text(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } }
}
