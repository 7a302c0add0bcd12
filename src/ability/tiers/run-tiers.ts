// Takes user interfaces through the tiers, each as far as its guards allow. One that is held back does not hold back the others.

import { join } from "node:path"
import {
  addStructure,
  analyze,
  canAnalyze,
  emptyStructure,
  type FileReport,
  type Finding,
  type Structure,
} from "#ability/analysis/analysis.ts"
import { sayFinding } from "#ability/analysis/say-report.ts"
import type { Program } from "#kernel/behavioral/behavioral.ts"
import { textOf } from "#util/file/path-info.ts"
import { createTierProgram, type Tier, type TierEvent } from "./tier-guards.ts"

/** A story file, and the files of the project that it imports. */
type Unit = { file: string; modules: readonly string[] }
export type Verdict = { score: number; reasons: string[] }
/** `files`: what the user interface is made of, stories first. */
export type Judged = {
  files: readonly { file: string; text: string }[]
  structure: Structure
  findings: readonly string[]
}
/** Returns the verdict, or why there is none. */
export type Judge = (judged: Judged, signal: AbortSignal) => Promise<Verdict | { notice: string }>
/** `held`: the tier did not run, because the guards named in `by` blocked it. */
type TierResult =
  | { tier: Tier; status: "passed" | "failed" }
  | { tier: Tier; status: "skipped"; notice: string }
  | { tier: Tier; status: "held"; by: readonly string[] }
export type UnitReport = { file: string; tiers: TierResult[]; findings: Finding[]; verdict?: Verdict }

type Options = {
  root: string
  units: readonly Unit[]
  /** Undefined: nobody judges. */
  judge: Judge | undefined
  /** Runs the stories of files, and returns those with a story that failed. */
  browse(files: readonly string[]): Promise<ReadonlySet<string>>
  onReport?(report: UnitReport): void
  signal: AbortSignal
}
type Going = { report: UnitReport; program: Program; unit: Unit; structure: Structure }

export async function runTiers(options: Options): Promise<UnitReport[]> {
  const { root, units, browse, onReport, signal } = options
  // All at once: units share modules.
  const { files } = await analyze({ root, files: [...new Set(units.flatMap(filesOf))], signal })
  const reports = new Map(files.map((report) => [report.file, report]))
  const all: Going[] = []
  for (const unit of units) {
    const going = takeAnalysis(unit, reports)
    await judgeUnit(going, options)
    all.push(going)
    onReport?.(going.report)
  }
  const ready = all.filter((going) => start(going, "browser"))
  const failed = ready.length ? await browse(ready.map(({ report }) => report.file)) : new Set()
  for (const going of ready) {
    if (failed.has(going.report.file)) going.program.trigger(event("browser.error"))
    end(going, "browser")
  }
  return all.map(({ report }) => report)
}

/** Without packages, which others have written. */
function filesOf({ file, modules }: Unit): string[] {
  const isOurs = (path: string) => !/(^|\/)node_modules\//.test(path) && canAnalyze(path)
  return [...new Set([file, ...modules.filter(isOurs)])]
}

function takeAnalysis(unit: Unit, reports: ReadonlyMap<string, FileReport>): Going {
  const program = createTierProgram()
  const structure = emptyStructure()
  const going: Going = { report: { file: unit.file, tiers: [], findings: [] }, program, unit, structure }
  start(going, "static")
  for (const file of filesOf(unit)) {
    const found = reports.get(file)
    if (!found) continue
    going.report.findings.push(...found.findings)
    addStructure(structure, found.structure)
  }
  for (const finding of going.report.findings)
    if (finding.severity === "error") program.trigger(event("static.error", finding))
  end(going, "static")
  return going
}

async function judgeUnit(going: Going, { root, judge, signal }: Options): Promise<void> {
  if (!start(going, "judge")) return
  const { unit, report, structure } = going
  const files = filesOf(unit).map((file) => ({ file, text: textOf(join(root, file)) ?? "" }))
  const given = judge
    ? await judge({ files, structure, findings: report.findings.map(sayFinding) }, signal)
    : { notice: "nobody was asked to judge" }
  if ("notice" in given) {
    going.program.trigger(event("judge.skipped"))
    report.tiers.push({ tier: "judge", status: "skipped", notice: given.notice })
  } else {
    report.verdict = given
    end(going, "judge", given.score)
  }
}

/** Whether the guards let a tier run. */
function start({ program, report }: Going, tier: Tier): boolean {
  const { selected, blockedBy } = program.trigger(event(tier))
  if (!selected) report.tiers.push({ tier, status: "held", by: blockedBy })
  return selected
}

/** A tier passes unless a guard blocks that. */
function end({ program, report }: Going, tier: Tier, detail?: unknown): void {
  const isPassed = program.trigger(event(`${tier}.passed`, detail)).selected
  if (!isPassed) program.trigger(event(`${tier}.failed`, detail))
  report.tiers.push({ tier, status: isPassed ? "passed" : "failed" })
}

function event(type: TierEvent, detail?: unknown) {
  return { type, ...(detail === undefined ? {} : { detail }) }
}
