// Whether a copy, a move or a link makes a skill: by what it is given, and by what that is on the disk now. Single files do
// not, and what is copied out of a skill's folder is only read.
import { lstatSync, readdirSync, type Stats, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import type { SkillReach } from "./skill-reach.ts"

type Copy = {
  program: string
  reach: SkillReach
  /** The sources keep their whole paths. */
  keepsPaths: boolean
  /** The target is what the source becomes, not where it is put. */
  becomes: boolean
}

/** Options that take no word behind them, and those that take one which is no path. With any other, each word may be where
 * it all goes. */
const long =
  "recursive|archive|force|verbose|no-clobber|update|parents|preserve|no-dereference|dereference|interactive|symbolic|relative|no-target-directory|delete|compress|times|links|progress|dry-run|human-readable|one-file-system|strip-trailing-slashes"
const plain = new RegExp(`^(?:-[abdfFHhiLlnPpRrsTuvxzZ]+|--(?:${long})|--(?!target-directory)[\\w-]+=.*|--)$`)
const valued = /^(?:--(?:exclude|include|filter|rsh|suffix|bwlimit|chmod|chown)|-e)$/
const recursive = /^-\w*[rRa]|^--(?:recursive|archive)$/
const pattern = /[*?[]/
/** What nobody knows before the shell has made it. */
const unknown = /[$`{]/

export function copiesTo(program: string, args: string[], reach: SkillReach): boolean {
  const words = args.filter((_, i) => !valued.test(args[i - 1] ?? "") && !valued.test(args[i]!))
  const options = words.filter((word) => word.startsWith("-"))
  const has = (option: RegExp) => options.some((one) => option.test(one))
  const keepsPaths = has(/^--parents$/) || (program === "rsync" && has(/^-\w*R|^--relative$/))
  if (/^s?cp$/.test(program) && !keepsPaths && !has(recursive)) return false
  const copy: Copy = { program, reach, keepsPaths, becomes: has(/^-\w*T|^--no-target-directory$/) }
  const operands = words.filter((word) => !word.startsWith("-")).map(withHome)
  const isPlain = options.every((one) => plain.test(one))
  // A link with one name is made here.
  const targets = isPlain
    ? [operands.length > 1 ? operands.at(-1)! : "."]
    : [...operands, ...options.flatMap(valuesOf)]
  const sources = isPlain && operands.length > 1 ? operands.slice(0, -1) : operands
  // By another name, what is said next would not be seen.
  if (
    program === "ln" &&
    sources.some((source) => reach.names(source) && !isFile(source, ".", { ...copy, program: "cp" }))
  )
    return true
  const near = targets.filter((target) => reach.isNear(target))
  // What is too much to look at may make one.
  if (!reach.spend(near.length * sources.length)) return true
  return near.some((target) =>
    sources.some((source) => source !== target && makesSkill(source, target, copy)),
  )
}

/** `--target-directory=x`, `-tx`. */
function valuesOf(option: string): string[] {
  return [option.replace(/^--[\w-]+=/, ""), option.replace(/^-[a-zA-Z]/, "")]
}

function withHome(word: string): string {
  return /^~|\$/.test(word) ? (Permission.pathsIn(word)[0] ?? word) : word
}

function makesSkill(source: string, target: string, copy: Copy): boolean {
  const { reach, keepsPaths } = copy
  if (unknown.test(target) || pattern.test(target)) return reach.names(target)
  if (isFile(source, target, copy)) return keepsPaths && reach.names(join(target, source))
  return reach.from(target).some((place) => {
    const results = resultsOf(source, place, { ...copy, isFolder: isFolder(place) || target.endsWith("/") })
    if (!results) return reach.names(place) || reach.holds(place, "isThere")
    return results.some((path) => reach.names(path) || (reach.holds(path) && !isFolder(path)))
  })
}

/** What would be there, as far as it is new; undefined where nobody can tell. */
function resultsOf(
  source: string,
  place: string,
  { reach, keepsPaths, becomes, program, isFolder }: Copy & { isFolder: boolean },
): string[] | undefined {
  if (unknown.test(source)) return undefined
  if (keepsPaths) return [join(place, source)]
  const isContent =
    becomes || /(?:^|\/)\.{1,2}\/*$/.test(source) || (program === "rsync" && source.endsWith("/"))
  if (!isContent && !pattern.test(source)) {
    const inside = namesIn(source, reach)
    // What is there now may be removed before on the same line.
    const mayBecome = !isFolder || !inside || inside.includes("scripts")
    return [...(isFolder ? [join(place, basename(source))] : []), ...(mayBecome ? [place] : [])]
  }
  const names = namesIn(pattern.test(source) ? dirname(source) : source, reach)
  return names && [...names.map((name) => join(place, name)), ...(isFolder ? [] : [place])]
}

/** A single file, or one that a link is to lead to. What is not there may be anything. */
function isFile(source: string, target: string, { program, reach }: Copy): boolean {
  if (unknown.test(source) || pattern.test(source)) return false
  const places =
    program === "ln"
      ? reach.from(target).flatMap((one) => [resolve(one, source), resolve(dirname(one), source)])
      : reach.from(source)
  const found = places.flatMap((place) => look(place, program === "mv" ? lstatSync : statSync) ?? [])
  return found.length > 0 && found.every((stat) => stat.isFile())
}

/** What is in a folder, as far as there is one. */
function namesIn(folder: string, reach: SkillReach): string[] | undefined {
  const found = reach.from(folder).flatMap((place) => {
    try {
      return [readdirSync(place)]
    } catch {
      return []
    }
  })
  return found.length > 0 ? [...new Set(found.flat())] : undefined
}

function isFolder(path: string): boolean {
  return look(path, statSync)?.isDirectory() ?? false
}

function look(path: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(path)
  } catch {
    return undefined
  }
}
