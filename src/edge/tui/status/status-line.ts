// The last line of the screen: where the session runs, who works on it, what it has used, and what happens now. On a
// narrow terminal the least important parts are left out.
import { dollars } from "#edge/tui/command/words.ts"
import type { Line, Paint, Role, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf } from "#edge/tui/screen/width.ts"

export type Status = {
  folder: string
  branch?: string | undefined
  agent?: string | undefined
  model?: string | undefined
  /** The approval preset. */
  preset: string
  /** Share of the context window that is used, from 0 to 1. */
  context?: number | undefined
  /** In US dollars. */
  cost?: number | undefined
  /** What happens now, and behind a comma how to stop it: `working 12 s, esc stops`. */
  activity?: string | undefined
  /** A message that is shown for a moment instead of the rest. */
  hint?: string | undefined
}

type Part = {
  text: string
  paint?: "accent" | "warning" | "dim"
  /** Higher ones are left out first: the agent, the cost, the context, the folder, how to stop, the model, the preset. What
   * happens now stays. */
  drop: number
  /** Between it and the part before. */
  before?: string
}

const separator = " · "
const maxFolder = 30

export function statusLine(status: Status, { columns, paint }: View): Line {
  if (status.hint) return paint("dim", cutTo(safeLine(status.hint), columns))
  let parts = partsOf(status)
  while (parts.length > 1 && widthOf(joined(parts)) > columns) {
    const worst = Math.max(...parts.map(({ drop }) => drop))
    parts = parts.filter(({ drop }) => drop !== worst)
  }
  return cutTo(joined(parts, paint), columns)
}

/** Neighbours of the same role are painted together: the line is written in most frames. */
function joined(parts: readonly Part[], paint: Paint = (_, text) => text): string {
  const runs: { role: Role; text: string }[] = []
  const add = (role: Role, text: string) => {
    const last = runs.at(-1)
    if (last?.role === role) last.text += text
    else runs.push({ role, text })
  }
  for (const [i, { text, paint: role = "dim", before = separator }] of parts.entries()) {
    if (i) add(before === separator ? "dim" : role, before)
    add(role, text)
  }
  return runs.map(({ role, text }) => paint(role, text)).join("")
}

function partsOf(status: Status): Part[] {
  const { folder, branch, agent, model, preset, context, cost, activity } = status
  const here = shortFolder(folder)
  const where = branch ? `${here} (${branch})` : here
  const [doing, how] = activity?.split(", ") ?? []
  return [
    ...(doing ? [{ text: doing, paint: "accent" as const, drop: 0 }] : []),
    ...(how ? [{ text: how, paint: "accent" as const, drop: 3, before: ", " }] : []),
    { text: preset, ...(preset === "ask" ? {} : { paint: "warning" as const }), drop: 1 },
    ...(model ? [{ text: model, drop: 2 }] : []),
    ...(context === undefined ? [] : [{ text: `${Math.round(context * 100)}% of context`, drop: 5 }]),
    ...(cost ? [{ text: dollars(cost), drop: 6 }] : []),
    ...(agent ? [{ text: agent, drop: 7 }] : []),
    { text: where, drop: 4 },
  ].map((part) => ({ ...part, text: safeLine(part.text) }))
}

/** With `~` for the home folder; of a long path, the last folders. */
function shortFolder(folder: string): string {
  const home = process.env.HOME
  const isInHome = home && (folder === home || folder.startsWith(`${home}/`))
  const path = isInHome ? `~${folder.slice(home.length)}` : folder
  if (path.length <= maxFolder) return path
  const last = path.slice(-maxFolder)
  return `…${last.slice(Math.max(0, last.indexOf("/")))}`
}
