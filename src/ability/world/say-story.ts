// Outcomes of stories as text, for people and models.
import type { Outcome } from "./story-result.ts"

/** One line, and one more for each problem and each violation. */
export function sayStory({
  file,
  name,
  intent,
  status,
  problems,
  violations = [],
  duration,
}: Outcome): string {
  const what = name ? `${file} › ${name}: ${intent}` : file
  const lines = [
    ...problems,
    ...violations.map(
      ({ id, impact, help, targets }) => `accessibility (${impact}) ${id}: ${help}; at ${targets[0]}`,
    ),
  ]
  return [
    `${status === "passed" ? "passed" : "FAILED"}  ${what} (${duration} ms)`,
    ...lines.map((line) => `    ${line}`),
  ].join("\n")
}

export function sayTotal(outcomes: readonly Outcome[]): string {
  const failed = outcomes.filter(({ status }) => status === "failed").length
  const stories = outcomes.length === 1 ? "1 story" : `${outcomes.length} stories`
  const checked = outcomes.filter(({ violations }) => violations !== undefined)
  const violating = checked.filter(({ violations }) => violations!.length > 0).length
  const accessibility = checked.length
    ? `${violating} with accessibility violations`
    : "accessibility was not checked"
  return `${stories}: ${outcomes.length - failed} passed, ${failed} failed, ${accessibility}.`
}
