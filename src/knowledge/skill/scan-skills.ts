// Scans a folder for skills: `NAME/SKILL.md` with its files, and `NAME.md`. Number, size and depth are limited. An
// unusable skill is reported and does not affect the others. Unchanged files are not read again.
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { basename, dirname, extname, join, resolve } from "node:path"
import { readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import { errorText } from "#util/error.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { extractMarkdownLinks, filePathOf } from "#util/parse/markdown-links.ts"
import { parseSkill } from "./parse-skill.ts"
import { listAssets, listScripts } from "./skill-files.ts"
import type { SkillInfo, SkillProblem, SkillReference } from "./skill-types.ts"

/** A file that is no usable skill, and why. */
type Unusable = { file: string; problems: SkillProblem[] }
export type FoundSkills = { skills: SkillInfo[]; unusable: Unusable[] }
/** Results by file, with the state of the file at that time. */
export type SkillCache = Map<string, { stamp: string; found: FoundSkills }>

type Place = { file: string; folder: string; expected: string; isAlone: boolean }
type Options = {
  /** The folder that must contain the real files; without it, links may lead anywhere. */
  root?: string | undefined
  cache?: SkillCache
}

/** More than any person has: the limits are for hostile folders, which could have a million files. */
const maxSkills = 500
const maxNames = 5_000
const maxBytes = 1 << 20
const maxTotal = 16 << 20
const maxReferences = 200
const maxLinks = 1_000

/** The skills in a folder, or the folder itself if it is a skill. Empty if there is no such folder. */
export function scanSkills(folder: string, options: Options = {}): FoundSkills {
  const found: FoundSkills = { skills: [], unusable: [] }
  const places = placesIn(folder, found)
  let total = 0
  for (const [i, place] of places.entries()) {
    total += Math.min(maxBytes, statOf(place.file)?.size ?? 0)
    if (i >= maxSkills || total > maxTotal) {
      const message = `there are more than ${maxSkills} skills, or ${maxTotal} bytes of them; ${place.expected} and later ones are left out`
      found.unusable.push(problemOf(folder, message))
      break
    }
    const { skills, unusable } = readSkill(place, options)
    found.skills.push(...skills)
    found.unusable.push(...unusable)
  }
  return found
}

/** Reads one file as a skill. */
export function scanSkillFile(file: string, options: Options = {}): FoundSkills {
  const isAlone = basename(file).toLowerCase() !== "skill.md"
  const folder = dirname(file)
  return readSkill(
    { file, folder, isAlone, expected: isAlone ? basename(file, ".md") : basename(folder) },
    options,
  )
}

function placesIn(folder: string, found: FoundSkills): Place[] {
  const own = fileIn(folder)
  if (own) return [{ file: own, folder, expected: basename(folder), isAlone: false }]
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith("."))
    if (names.length > maxNames)
      found.unusable.push(problemOf(folder, `only the first ${maxNames} of ${names.length} names are read`))
    return names
      .sort()
      .slice(0, maxNames)
      .flatMap((name) => placeOf(folder, name, found))
  } catch (error) {
    const isGone = !statOf(folder)?.isDirectory()
    if (!isGone) found.unusable.push(problemOf(folder, errorText(error)))
    return []
  }
}

function placeOf(parent: string, name: string, found: FoundSkills): Place[] {
  const path = join(parent, name)
  const stat = statOf(path)
  if (!stat) {
    found.unusable.push(problemOf(path, "it is a broken or circular link"))
    return []
  }
  if (stat.isDirectory()) {
    const file = fileIn(path)
    return file ? [{ file, folder: path, expected: name, isAlone: false }] : []
  }
  const isDocument = extname(name) === ".md" && stat.isFile()
  return isDocument ? [{ file: path, folder: parent, expected: basename(name, ".md"), isAlone: true }] : []
}

function fileIn(folder: string): string | undefined {
  return ["SKILL.md", "skill.md"].map((name) => join(folder, name)).find((file) => statOf(file))
}

function readSkill(place: Place, options: Options): FoundSkills {
  const stamp = stampOf(place, options.root)
  const kept = options.cache?.get(place.file)
  if (kept?.stamp === stamp) return kept.found
  const found = readAnew(place, options.root)
  options.cache?.set(place.file, { stamp, found })
  return found
}

function stampOf({ file, folder, isAlone }: Place, root: string | undefined): string {
  const beside = isAlone ? [] : ["", "scripts", "references", "assets"].map((name) => join(folder, name))
  const marks = [file, ...beside].map((path) => {
    const { ino, size, mtimeMs, ctimeMs } = statOf(path) ?? {}
    return [ino, size, mtimeMs, ctimeMs]
  })
  return JSON.stringify([root, marks])
}

function readAnew({ file, folder, expected, isAlone }: Place, root: string | undefined): FoundSkills {
  const none = (problems: SkillProblem[]): FoundSkills => ({ skills: [], unusable: [{ file, problems }] })
  try {
    const { bytes, text, size, isCut, place } = readDocument({ root: root ?? "/", path: file, maxBytes })
    if (isCut) return none(problemOf(file, `${size} bytes are too many; the limit is ${maxBytes}`).problems)
    const { skill, problems, isPlain } = parseSkill(text, { source: basename(file), expected })
    if (!skill) return isAlone && isPlain ? { skills: [], unusable: [] } : none(problems)
    const hash = createHash("sha256").update(bytes).digest("hex")
    const home = { folder, root: root ?? realOf(folder) ?? folder }
    const references = referencesOf({ skill: skill.name, text, ...home }, problems)
    const beside = isAlone
      ? { scripts: [], assets: [] }
      : { scripts: listScripts(home), assets: listAssets(home) }
    return {
      skills: [{ ...skill, file, hash, place, ...home, ...beside, references, problems }],
      unusable: [],
    }
  } catch (error) {
    if (error instanceof Unreadable) return none(problemOf(file, String(error.data.reason)).problems)
    throw error
  }
}

/** Its links to Markdown, each file once. */
function referencesOf(
  { skill, text, folder, root }: { skill: string; text: string; folder: string; root: string },
  problems: SkillProblem[],
): SkillReference[] {
  const references = new Map<string, SkillReference>()
  const seen = new Set<string>()
  const front = text.split("\n").findIndex((line, i) => i > 0 && line.trimEnd() === "---")
  const links = extractMarkdownLinks(text, { extensions: [".md"] })
  for (const { displayText, relativePath, lineNumber: line } of links) {
    if (line <= front) continue
    const file = resolve(folder, filePathOf(relativePath))
    if (seen.has(file)) continue
    if (seen.size >= maxLinks) {
      problems.push({ level: "breach", line, message: `only its first ${maxLinks} links are followed` })
      break
    }
    seen.add(file)
    const problem = problemWith(file, root)
    if (problem)
      problems.push({ level: "breach", line, message: `it links to ${relativePath}, which ${problem}` })
    else if (references.size < maxReferences)
      references.set(file, { skill, displayText: displayText.slice(0, 300), relativePath, file })
  }
  return [...references.values()]
}

function problemWith(file: string, root: string): string | undefined {
  const real = realOf(file)
  if (real === undefined || !statOf(real)?.isFile()) return "is not there"
  return isInside(root, real) ? undefined : `is outside of ${root}`
}

function problemOf(file: string, message: string): Unusable {
  return { file, problems: [{ level: "error", line: 1, message }] }
}
