// The head of a permission question: what is asked in a sentence, how many questions wait, and what would run or change.
import type { PermissionRequest } from "#client/client.ts"
import { needWords, questionWords, targetWords } from "#client/permission-words.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"

const maxRisks = 5

/** `more`: how many other questions wait. */
export function headLines(request: PermissionRequest, more: number, { columns, paint }: View): Line[] {
  const { needs, task } = request
  const question = safeLine(needs.length ? questionWords(needs) : request.title)
  const waiting = more ? `  ${more === 1 ? "1 more question waits" : `${more} more questions wait`}` : ""
  const doer = doerOf(request)
  const targets = targetWords(needs)
  return [
    ...wrapTo(paint("warning", question) + paint("dim", waiting), columns),
    ...(doer ? [paint("dim", cutTo(`  asked by ${safeLine(doer)}`, columns))] : []),
    ...(task ? [paint("dim", cutTo(`  task: ${safeLine(task)}`, columns))] : []),
    ...needs.flatMap((need, i) => [
      ...(targets[i] === undefined ? [] : targetLines(targets[i], columns)),
      ...(need.changed ? [paint("dim", "  it was allowed before and has changed since")] : []),
      ...riskLines(need, { columns, paint }),
    ]),
    ...(request.protected
      ? wrapTo(
          paint("warning", "  It would change what decides what runs, or leads out of the workspace."),
          columns,
          2,
        )
      : []),
  ]
}

/** What it is about, one line for each need, for a low terminal. */
export function shortHead(request: PermissionRequest, more: number, { columns, paint }: View): Line[] {
  const count = more ? `+${more} ` : ""
  const lines = request.needs.map((need) => safeLine(needWords(need)))
  return [...lines, ...(lines.length ? [] : [safeLine(request.title)])].map((line, i) =>
    paint("warning", cutTo(i ? line : count + line, columns)),
  )
}

function doerOf({ agents = [], agent, task }: PermissionRequest): string {
  if (agents.length > 1) return agents.join(", working for ")
  return task && agent ? agent : ""
}

function targetLines(target: string, columns: number): Line[] {
  return safe(target)
    .split("\n")
    .flatMap((line, i) => wrapTo(i ? `    ${line}` : `  ${line}`, columns, 4))
}

function riskLines(
  { target, parts = [] }: PermissionRequest["needs"][number],
  { columns, paint }: Pick<View, "columns" | "paint">,
): Line[] {
  return parts
    .filter(({ why }) => why)
    .slice(0, maxRisks)
    .flatMap(({ from, to, why }) =>
      wrapTo(
        `  ${paint("warning", "risky:")} ${safeLine(target.slice(from, to))} (${safeLine(why!)})`,
        columns,
        4,
      ),
    )
}
