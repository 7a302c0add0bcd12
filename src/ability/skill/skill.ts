// Skills: instructions for one kind of work, in folders of a project or a person. `list` returns those of the current
// instance, `load` those of any folders. Of equal names the nearest wins; but the person's own skill wins over an
// unreviewed one of the project.
import { dirname, isAbsolute, relative, resolve, sep } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { type FoundSkills, type SkillCache, scanSkills } from "#knowledge/skill/scan-skills.ts"
import type { SkillInfo } from "#knowledge/skill/skill-types.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import { type SkillPlace, skillPlaces } from "./skill-places.ts"
import { takeUnreported } from "./unreported-problems.ts"

/** `isTrusted`: its servers and scripts may start. `isOwn`: the person's, not the project's. */
export type Info = SkillInfo & { isOwn: boolean; isTrusted: boolean }
/** A skill, or a part of one, that is not used as it was written. */
export type Problem = { file: string; message: string }
export type Listing = { skills: Info[]; problems: Problem[] }

export class NotFound extends NamedError {
  constructor(name: string, available: string[]) {
    const near = nearest(name, available)
    super(
      "Skill.NotFound",
      `Skill ${JSON.stringify(name)} does not exist. Available: ${available.join(", ") || "none"}${near ? `. Did you mean "${near}"?` : ""}`,
      { name, available },
    )
  }
}

type Scan = { place: SkillPlace; found: FoundSkills }

const maxSkills = 1_000
const maxSaid = 20
const read = Instance.state(() => ({ cache: new Map() as SkillCache, said: new Set<string>() }))

/** The skills of the given folders; of equal names the first. A folder that does not exist has none. */
export async function load(directories: readonly string[]): Promise<SkillInfo[]> {
  const places = directories.map((folder) => ({ folder: resolve(folder), isOwn: false }))
  return merge(places.map((place) => ({ place, found: scanSkills(place.folder) }))).skills
}

/** The skills of the current instance. A problem is logged once for each state of the file; with `isQuiet` the caller
 * reports it. */
export async function list({ isQuiet = false } = {}): Promise<Listing> {
  const { cache, said } = read()
  const places = skillPlaces((await Config.get()).skills?.root).map(withRoot)
  const scans = places.map((place) => ({
    place,
    found: ofPlugin(place, scanSkills(place.folder, { root: place.root, cache })),
  }))
  const reviewed = scans.some(isProjects) ? await Reviewed.of(Instance.worktree) : undefined
  const isReviewed = ({ file, hash }: SkillInfo) => reviewed?.refusal(file, hash) === undefined
  const own = scans.filter(isOwn)
  const projects = scans.filter(isProjects)
  // The person's own before unreviewed ones: a project must not replace a skill that a person calls by name.
  const { skills, problems } = merge([
    ...projects.map((scan) => part(scan, isReviewed)),
    ...own,
    ...projects.map((scan) => part(scan, (skill) => !isReviewed(skill), scan.found.unusable)),
  ])
  if (!isQuiet) await report(problems, said)
  const inOrder = skills.toSorted((a, b) => Number(a.isOwn) - Number(b.isOwn))
  return {
    skills: inOrder.map((skill) => ({ ...skill, isTrusted: skill.isOwn || isReviewed(skill) })),
    problems,
  }
}

/** Throws `NotFound`. */
export async function get(name: string): Promise<Info> {
  const { skills } = await list()
  const found = skills.find((skill) => skill.name === name)
  if (found) return found
  throw new NotFound(
    name,
    skills.map((skill) => skill.name),
  )
}

/** A configured folder may be outside the work tree, since only a person or a trusted folder can name it. Its files
 * must then stay inside its parent folder. */
function withRoot(place: SkillPlace): SkillPlace {
  const { folder, root } = place
  if (root === undefined) return place
  const way = relative(root, folder)
  const isOutside = way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)
  return isOutside ? { ...place, root: dirname(folder) } : place
}

/** The skills of a plugin are called `plugin:name`. One that is not as it was installed is not used. */
function ofPlugin({ plugin }: SkillPlace, found: FoundSkills): FoundSkills {
  if (!plugin) return found
  const named = found.skills.map((skill) => ({ ...skill, name: `${plugin.name}:${skill.name}` }))
  const [kept, changed] = [true, false].map((isKept) =>
    named.filter(({ file, hash }) => (plugin.reviewed.refusal(file, hash) === undefined) === isKept),
  ) as [SkillInfo[], SkillInfo[]]
  const unusable = changed.map(({ file }) => {
    const message = "it is not as it was when the plugin was installed"
    return { file, problems: [{ level: "error" as const, line: 1, message }] }
  })
  return { skills: kept, unusable: [...found.unusable, ...unusable] }
}

function isOwn({ place }: Scan): boolean {
  return place.isOwn
}

function part(
  { place, found }: Scan,
  fits: (skill: SkillInfo) => boolean,
  unusable: FoundSkills["unusable"] = [],
): Scan {
  return { place, found: { skills: found.skills.filter(fits), unusable } }
}

function isProjects({ place, found }: Scan): boolean {
  return !place.isOwn && found.skills.length + found.unusable.length > 0
}

function merge(scans: readonly Scan[]): {
  skills: (SkillInfo & { isOwn: boolean })[]
  problems: Problem[]
} {
  const byName = new Map<string, SkillInfo & { isOwn: boolean }>()
  const problems: Problem[] = []
  const files = new Set<string>()
  for (const { place, found } of scans) {
    for (const { file, problems: reasons } of found.unusable)
      problems.push({ file, message: `it is not used: ${reasons.map(({ message }) => message).join("; ")}` })
    for (const skill of found.skills) {
      const { name, file, place: real } = skill
      // One folder of skills is often a link to another.
      if (files.has(real)) continue
      files.add(real)
      const nearer = byName.get(name)
      if (nearer) {
        if (!isCopy(nearer, skill))
          problems.push({
            file,
            message: `the name "${name}" is already used by ${nearer.file}; this skill is ignored`,
          })
      } else if (byName.size >= maxSkills)
        problems.push({ file, message: `it is not used: there are more than ${maxSkills} skills` })
      else {
        byName.set(name, { ...skill, isOwn: place.isOwn })
        for (const { level, line, message } of skill.problems)
          if (level === "error") problems.push({ file, message: `line ${line}: ${message}` })
      }
    }
  }
  return { skills: [...byName.values()], problems }
}

/** Some programs install the same skill in several places. */
function isCopy(one: SkillInfo, other: SkillInfo): boolean {
  return one.body === other.body && one.description === other.description
}

async function report(problems: Problem[], said: Set<string>): Promise<void> {
  const unsaid = problems.filter((problem) => !said.has(lineOf(problem)))
  for (const problem of unsaid) said.add(lineOf(problem))
  // All problems of a file are passed, because together they identify its state.
  const files = new Set(unsaid.map(({ file }) => file))
  const news = await takeUnreported(problems.filter(({ file }) => files.has(file)))
  for (const problem of news.slice(0, maxSaid)) Log.warn(lineOf(problem))
  if (news.length > maxSaid)
    Log.warn(`and ${news.length - maxSaid} more about skills (${ownCommand} skill list)`)
}

function lineOf({ file, message }: Problem): string {
  return `skill ${file}: ${message}`
}
