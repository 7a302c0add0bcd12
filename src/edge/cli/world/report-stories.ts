// Runs stories and reports them: as text line by line, or as JSON, and as a page with pictures.
import { writeFile } from "node:fs/promises"
import type { World } from "#ability/world/create-world.ts"
import { sayStory, sayTotal } from "#ability/world/say-story.ts"
import type { Outcome } from "#ability/world/story-result.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"

/** `report`: an HTML file to write. */
export type ReportOptions = { report?: string | undefined; format: "text" | "json" }

export async function reportStories(
  world: World,
  files: readonly string[],
  { format, report }: ReportOptions,
  signal: AbortSignal,
): Promise<Outcome[]> {
  const isText = format === "text"
  const onOutcome = (outcome: Outcome) => isText && print(sayStory(outcome))
  const outcomes = await world.run(files, { signal, onOutcome })
  print(isText ? sayTotal(outcomes) : JSON.stringify(outcomes.map(withoutPicture), null, 2))
  if (report !== undefined) {
    const { htmlReport } = await import("./html-report.ts")
    await writeFile(report, htmlReport(outcomes))
    if (isText) print(`Report: ${report}`)
  }
  return outcomes
}

function withoutPicture({ picture: _, ...outcome }: Outcome): Omit<Outcome, "picture"> {
  return outcome
}

/** Stories name and quote what they like. */
function print(text: string): void {
  process.stdout.write(`${safeText(text)}\n`)
}
