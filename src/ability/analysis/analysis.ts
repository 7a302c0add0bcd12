// Static analysis of templates: HTML, CSS, and markup in TypeScript. Describes each file in the structural vocabulary, and
// reports what breaks a rule. Nothing of the files is run.
import { isAbsolute, join, relative } from "node:path"
import { checkFile } from "./check-file.ts"
import { isStory, type Parsed, parseFile } from "./parse-file.ts"
import { findFiles } from "./read-files.ts"
import { definedIn } from "./rule/tokens.ts"
import type { Finding } from "./term/finding.ts"
import type { Structure } from "./term/vocabulary.ts"

export { canAnalyze } from "./read-files.ts"
export type { Finding } from "./term/finding.ts"
export * from "./term/vocabulary.ts"

/** `structure` has the first items of each term, `counts` how many there are. */
export type FileReport = {
  file: string
  structure: Structure
  counts: Record<keyof Structure, number>
  findings: Finding[]
}
/** `more`: there are too many files, and the last were left out. */
export type Report = { files: FileReport[]; errors: number; warnings: number; more: boolean }

/** Analyze the files below `root` that a glob, a folder or a file names; `files` names them one by one. */
export async function analyze(options: {
  root: string
  glob?: string | undefined
  files?: readonly string[] | undefined
  /** Returns false for a file that must not be read. Gets its path from the root. */
  accepts?: ((file: string) => boolean) | undefined
  signal?: AbortSignal | undefined
}): Promise<Report> {
  const { root, glob, signal, accepts = () => true } = options
  const found = options.files
    ? { names: options.files.map((file) => (isAbsolute(file) ? relative(root, file) : file)), more: false }
    : await findFiles(root, glob, signal)
  const known = new Map<string, Parsed>()
  const isNamed = glob !== undefined || options.files !== undefined
  const get = (path: string, isWhole = false) => {
    const before = known.get(path)
    if (before && (before.isWhole || !isWhole)) return before
    const parsed = parseFile({ root, path, isWhole, accepts })
    known.set(path, parsed)
    return parsed
  }
  const tokens = await definedTokens(root, get, signal)
  const files: FileReport[] = []
  for (const name of found.names) {
    if (!accepts(name)) continue
    const parsed = get(join(root, name), isNamed)
    if (isTemplate(parsed)) files.push(checkFile(parsed, { root, get, tokens }))
    await pause(signal)
  }
  const findings = files.flatMap((file) => file.findings)
  const errors = findings.filter(({ severity }) => severity === "error").length
  return { files, errors, warnings: findings.length - errors, more: found.more }
}

/** Scripts without markup are left out, unless they are stories or cannot be parsed. */
function isTemplate({ file, kind, markups, sheets, findings }: Parsed): boolean {
  return kind !== "script" || markups.length + sheets.length + findings.length > 0 || isStory(file)
}

/** All custom properties that style sheets and scripts of the project define. */
async function definedTokens(
  root: string,
  get: (path: string) => Parsed,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const defined = new Set<string>()
  const { names } = await findFiles(root, undefined, signal)
  for (const name of names) {
    const { sheets, scripts } = get(join(root, name))
    definedIn(sheets, defined)
    for (const { facts } of scripts) for (const token of facts.tokens) defined.add(token)
    await pause(signal)
  }
  return defined
}

/** Lets signals and timers through. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(setImmediate)
  signal?.throwIfAborted()
}
