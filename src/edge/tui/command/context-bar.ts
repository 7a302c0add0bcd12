// `/context`: what fills the window of the model, as a bar with one section for each part.
import type { ContextUsage } from "#client/client.ts"
import type { Line, Role, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"
import { type Command, sessionOf } from "./context.ts"
import { shortCount } from "./words.ts"

type Part = keyof ContextUsage["parts"]

/** Signs as well as colours: some terminals have none. */
const parts: readonly { part: Part; label: string; sign: string; role: Role }[] = [
  { part: "system", label: "system prompt", sign: "█", role: "keyword" },
  { part: "rules", label: "rules", sign: "▓", role: "function" },
  { part: "tools", label: "tools", sign: "▒", role: "number" },
  { part: "summary", label: "summary", sign: "#", role: "type" },
  { part: "conversation", label: "conversation", sign: "█", role: "accent" },
  { part: "calls", label: "tool calls", sign: "▓", role: "warning" },
  { part: "files", label: "files", sign: "▒", role: "string" },
]
const widest = 60

export const contextCommand: Command = {
  name: "context",
  about: "show what fills the context window",
  async run(context) {
    const { client, print, view } = context
    print(contextLines(await client.getContext({ id: sessionOf(context).id }), view()))
  },
}

function contextLines(usage: ContextUsage, { columns, paint }: View): Line[] {
  const { model, window, used, limit, free } = usage
  const width = Math.max(1, Math.min(widest, columns))
  const scale = (tokens: number) => (window > 0 ? (tokens / window) * width : 0)
  let [sum, drawn] = [0, 0]
  const sections = parts.map(({ part, sign, role }) => {
    sum += usage.parts[part]
    const end = Math.min(width, Math.round(scale(sum)))
    const section = paint(role, sign.repeat(Math.max(0, end - drawn)))
    drawn = Math.max(drawn, end)
    return section
  })
  const share = (tokens: number) => (window > 0 ? `${((tokens / window) * 100).toFixed(1)}%` : "")
  const row = (sign: string, label: string, tokens: number) =>
    `${sign} ${label.padEnd(14)} ${shortCount(tokens).padStart(7)} ${share(tokens).padStart(6)}`
  return [
    cutTo(
      `${safeLine(model ?? "no model yet")}: ${shortCount(used)} of ${shortCount(window)} tokens, ${share(used)}`,
      columns,
    ),
    sections.join("") + paint("dim", "·".repeat(Math.max(0, width - drawn))),
    ...parts
      .filter(({ part }) => usage.parts[part] > 0)
      .map(({ part, label, sign, role }) => cutTo(row(paint(role, sign), label, usage.parts[part]), columns)),
    cutTo(row(paint("dim", "·"), "free", free), columns),
    paint("dim", cutTo(`The session is compacted above ${shortCount(limit)} tokens.`, columns)),
  ]
}
