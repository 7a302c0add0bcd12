// A permission question in the terminal: the session, the need, the change with line numbers, and the risks of a
// command. Everything is escaped.
import { styleText } from "node:util"
import * as Permission from "#ability/permission/permission.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { ownCommand } from "#util/own-command.ts"
import { shorten } from "#util/plain-text.ts"
import { asciiMarks, wrapLines } from "./wrap-text.ts"

type Style = Parameters<typeof styleText>[0]
type Part = NonNullable<Permission.ShownNeed["parts"]>[number]

/** A change of more lines is folded. */
const maxLines = 50
const shownLines = 40
const maxTask = 200
const maxParts = 5

/** The question, without the choices. */
export function showQuestion(request: Permission.Request): string {
  const { tool, needs, title, agent, agents = [], task, protected: isProtected } = request
  if (!needs.length) return `${safe(title)}\n`
  const doer = task && agent ? ` (${agent}, on a task)` : ""
  const whose = agents.length > 1 ? ` (${agents.join(", working for ")})` : doer
  const lines = [`${safe(tool)} needs your permission${safe(whose)}:`]
  if (task) lines.push(wrapLines(`  task: ${safe(shorten(task.trim().split("\n", 1)[0]!, maxTask))}`))
  for (const need of needs) lines.push(...needLines(need))
  if (isProtected) lines.push(`  ${Permission.whyProtected(needs)}.`)
  const change = changeLines(request)
  lines.push(...change.slice(0, isFolded(request) ? shownLines : change.length))
  if (isFolded(request)) lines.push(`    … and ${change.length - shownLines} more lines ([d] shows all)`)
  return asciiMarks(`${lines.join("\n")}\n`)
}

/** The whole change. */
export function showChange(request: Permission.Request): string {
  return asciiMarks(`${changeLines(request).join("\n")}\n`)
}

export function isFolded({ preview = "" }: Permission.Request): boolean {
  return preview.split("\n").length > maxLines
}

/** The line with the choices. */
export function choicesFor(request: Permission.Request): string {
  if (!request.needs.length) return "[o]nce, [r]eject: "
  const rules = request.needs.flatMap((need) => need.rules.map(Permission.formatRule))
  const choices = [
    "[o]nce",
    ...(Permission.canBeAlways(request)
      ? [`[a]lways (${rules.map(safe).join(", ")})`, "in this [s]ession"]
      : []),
    ...(Permission.isEdit(request) ? ["all [e]dits in this session"] : []),
    ...(isFolded(request) ? ["whole [d]iff"] : []),
    "[?]",
    "[r]eject (or say why not): ",
  ]
  return wrapLines(choices.join(", "))
}

export function explainChoices(request: Permission.Request): string {
  const rows: [string, string][] = [["o, once", "allow this call; the next one is asked for again"]]
  if (Permission.canBeAlways(request))
    rows.push(
      ["a, always", `allow it in this project from now on (${ownCommand} permission remove takes it back)`],
      ["s, session", "allow it in this session, also when the session is continued"],
    )
  if (Permission.isEdit(request))
    rows.push(["e, edits", "allow all edits of files in this folder, in this session"])
  if (isFolded(request)) rows.push(["d, diff", "show the whole change, and ask again"])
  rows.push(
    ["r, reject", "do not run it; the model goes on without it"],
    ["r why not", "reject, and tell the model why; any other text is sent as the reason too"],
    ["Ctrl-C", "stop the whole run"],
  )
  return wrapLines(`${rows.map(([keys, text]) => `  ${keys.padEnd(10)}  ${text}`).join("\n")}\n`)
}

function needLines({ permission, target, changed, parts = [] }: Permission.ShownNeed): string[] {
  const note = changed ? `  (${Permission.sayChanged})` : ""
  const [first, ...rest] = marked(target, parts).split("\n")
  const more = parts.length > maxParts ? [`  and ${parts.length - maxParts} more parts`] : []
  return [
    `  ${permission}  ${first}${note}`,
    ...rest.map((line) => `    ${line}`),
    ...parts.slice(0, maxParts).map((part) => partLine(target, part)),
    ...more,
  ]
}

function partLine(target: string, { from, to, why }: Part): string {
  const text = safe(target.slice(from, to).replace(/\s+/g, " "))
  const line = why
    ? `  ${paint(["yellow", "bold"], "risky")}: ${text} (${safe(why)})`
    : `  not allowed yet: ${text}`
  return wrapLines(line)
}

/** The command with its risky parts marked, line by line. */
function marked(target: string, parts: readonly Part[]): string {
  // After a redaction, the positions of the parts are unknown.
  const spans = Secret.redact(target) === target ? [...parts].sort((a, b) => a.from - b.from) : []
  let [text, at] = ["", 0]
  for (const { from, to } of spans) {
    if (to <= at) continue
    text += lines(target.slice(at, Math.max(at, from)))
    text += lines(target.slice(Math.max(at, from), to), ["yellow", "bold"])
    at = to
  }
  return text + lines(target.slice(at))
}

function lines(text: string, style?: Style): string {
  return text
    .split("\n")
    .map((line) => (style && line ? paint(style, safe(line)) : safe(line)))
    .join("\n")
}

/** A unified diff with line numbers: of the old file for removed lines, else of the new one. */
function changeLines({ preview }: Permission.Request): string[] {
  if (!preview) return []
  const given = preview.split("\n")
  if (!given[0]!.startsWith("@@ ")) return given.map((line) => `    ${colored(line[0]!, safe(line))}`)
  const width = String(Math.max(...given.map(lastNumber))).length
  let [before, after] = [0, 0]
  return given.flatMap((line, i) => {
    const hunk = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line)
    if (hunk) {
      ;[before, after] = [Number(hunk[1]), Number(hunk[2])]
      return i ? [`    ${" ".repeat(width)} ⋮`] : []
    }
    const sign = line[0] ?? " "
    if (!/[-+ ]/.test(sign)) return [`    ${" ".repeat(width)} ${safe(line)}`]
    const number = sign === "-" ? before : after
    if (sign !== "+") before++
    if (sign !== "-") after++
    return [`    ${colored(sign, `${String(number).padStart(width)} ${sign} ${safe(line.slice(1))}`)}`]
  })
}

function lastNumber(line: string): number {
  const [, before, removed, after, added] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line) ?? []
  return before ? Math.max(Number(before) + Number(removed), Number(after) + Number(added)) : 0
}

function colored(sign: string, line: string): string {
  if (sign === "-") return paint("red", line)
  return sign === "+" ? paint("green", line) : paint("dim", line)
}

function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr })
}

function safe(text: string): string {
  return Secret.redact(Log.escapeControls(text))
}
