import { sayFinding } from "#ability/analysis/say-report.ts"
import type { UnitReport } from "./run-tiers.ts"

/** The findings of a unit, its score, and what was not run. Empty if there is nothing to say. */
export function sayUnit({ file, tiers, findings, verdict }: UnitReport): string[] {
  const reasons = verdict ? ` ${verdict.reasons.join(" ")}` : ""
  const isLow = tiers.some(({ tier, status }) => tier === "judge" && status === "failed")
  const held = tiers.some(({ status }) => status === "held")
  return [
    ...findings.map(sayFinding),
    ...(verdict ? [`${isLow ? "FAILED" : "judged"}  ${file}: score ${verdict.score}.${reasons}`] : []),
    ...(held ? [`HELD    ${file}: its stories were not run.`] : []),
  ]
}
