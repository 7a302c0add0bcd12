// Takes story files through the tiers and reports them: as text line by line, or as JSON, and as a page with pictures.
import { writeFile } from "node:fs/promises"
import { redactKeys } from "#ability/provider/environment.ts"
import { runTiers, type UnitReport } from "#ability/tiers/run-tiers.ts"
import { sayUnit } from "#ability/tiers/say-unit.ts"
import type { World } from "#ability/world/create-world.ts"
import { sayStory, sayTotal } from "#ability/world/say-story.ts"
import type { Outcome } from "#ability/world/story-result.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { createJudge } from "#engine/model/create-judge.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { rootOf } from "#kernel/trust/trust.ts"

export type ReportOptions = FolderOptions & {
  /** An HTML file to write. */
  report?: string | undefined
  format: "text" | "json"
  judge: boolean
  model?: string | undefined
  judgeTimeout: number
}

/** Returns whether all passed. */
export async function reportStories(
  world: World,
  files: readonly string[],
  options: ReportOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { format, report } = options
  const isText = format === "text"
  redactKeys()
  const units = await Promise.all(
    files.map(async (file) => ({ file, modules: (await world.modules(file)).files })),
  )
  let stories: Outcome[] = []
  const reports = await runTiers({
    root: rootOf(directoryOf(options)),
    units,
    judge: options.judge
      ? await createJudge({ model: options.model, limit: options.judgeTimeout * 1_000 })
      : undefined,
    onReport: (unit) => isText && sayUnit(unit).forEach(print),
    browse: async (ready) => {
      const onOutcome = (outcome: Outcome) => isText && print(sayStory(outcome))
      stories = await world.run(ready, { signal, onOutcome })
      return new Set(stories.filter(({ status }) => status === "failed").map(({ file }) => file))
    },
    signal,
  })
  if (options.judge) warnOfSkipped(reports)
  print(
    isText
      ? sayTotal(stories)
      : JSON.stringify(Secret.redactCopy({ files: reports, stories: stories.map(withoutPicture) }), null, 2),
  )
  if (report !== undefined) {
    const { htmlReport } = await import("./html-report.ts")
    await writeFile(report, htmlReport(stories, reports))
    if (isText) print(`Report: ${report}`)
  }
  return reports.every(({ tiers }) =>
    tiers.every(({ status }) => status === "passed" || status === "skipped"),
  )
}

function warnOfSkipped(reports: readonly UnitReport[]): void {
  const notices = reports.flatMap(({ tiers }) => tiers.flatMap((one) => ("notice" in one ? one.notice : [])))
  for (const notice of new Set(notices))
    process.stderr.write(`${safeText(`vitamin: the judge was skipped: ${notice}`)}\n`)
}

function withoutPicture({ picture: _, ...outcome }: Outcome): Omit<Outcome, "picture"> {
  return outcome
}

/** Stories name and quote what they like. */
function print(text: string): void {
  process.stdout.write(`${safeText(Secret.redact(text))}\n`)
}
