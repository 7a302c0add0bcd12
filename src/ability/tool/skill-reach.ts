// Where paths of a command lie beside the folders of skills, from each folder that the command may be in.
import { existsSync } from "node:fs"
import { basename, dirname, join, resolve, sep } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { realOf } from "#util/real-of.ts"

export type SkillReach = Readonly<{
  /** Whether a path may be a folder of skills, a skill in it, or its scripts. */
  names(path: string): boolean
  /** Whether a folder of skills is, or would be, below a path; with `isThere`, only one that is there. */
  holds(path: string, isThere?: "isThere"): boolean
  /** Whether what is put at a path can be any of this. */
  isNear(path: string): boolean
  /** The path from each folder that the command may be in. */
  from(path: string): string[]
  /** Whether so many more paths may be looked at from each of these folders. */
  spend(paths: number): boolean
}>

/** What the shell puts something else in the place of. */
const special = /[$*?{}[\]`]/
const variable = /^["']?[$`]/
const maxLength = 4_096
/** Of more paths only the names are looked at, not where they lead. */
const maxReal = 300
/** A line may have a thousand sources and targets, and to look at each pair takes minutes. */
const maxLooks = 5_000

export function createSkillReach({ folders, roots }: { folders: string[]; roots: string[] }): SkillReach {
  const reals = new Map<string, string>()
  let looks = 0

  function from(path: string): string[] {
    return path.length > maxLength ? [] : folders.map((folder) => resolve(folder, path))
  }

  /** As it is written, and where it is or would be made. */
  function placesOf(path: string): string[] {
    return from(path).flatMap((target) => [target, ...realPlaceOf(target)])
  }

  function realPlaceOf(target: string): string[] {
    const known = reals.get(target)
    if (known !== undefined) return [known]
    if (reals.size >= maxReal) return []
    const real = realOf(target) ?? join(realOf(dirname(target)) ?? dirname(target), basename(target))
    reals.set(target, real)
    return [real]
  }

  function names(path: string): boolean {
    if (path === "" || path.startsWith("-") || path.length > maxLength) return false
    if (variable.test(path)) return roots.some((root) => mayEndWith(path, root))
    if (special.test(path))
      return from(path).some((target) => roots.some((root) => mayBeSkill(target.split(sep), root)))
    return placesOf(path).some((place) => roots.some((root) => isSkill(wayFrom(root, place))))
  }

  function holds(path: string, isThere?: "isThere"): boolean {
    if (path === "" || special.test(path)) return false
    return placesOf(path).some((place) =>
      roots.some((root) => wayFrom(place, root) !== undefined && (!isThere || existsSync(root))),
    )
  }

  function isNear(path: string): boolean {
    if (special.test(path)) return true
    const isInside = (place: string) => roots.some((root) => wayFrom(root, place) !== undefined)
    return holds(path) || placesOf(path).some(isInside)
  }

  function spend(paths: number): boolean {
    looks += paths * folders.length
    return looks <= maxLooks
  }

  return Object.freeze({ names, holds, isNear, from, spend })
}

/** The skills' own folder, one in it, or the scripts of one. What else is in a skill is not run. */
function isSkill(way: string[] | undefined): boolean {
  return way !== undefined && (way.length < 2 || way[1] === "scripts")
}

/** The same of a path that the shell has yet to make: each of its names may be the one. */
function mayBeSkill(given: string[], root: string): boolean {
  const wanted = root.split(sep)
  if (given.length < wanted.length || !wanted.every((name, i) => mayBe(given[i]!, name))) return false
  const behind = given.slice(wanted.length)
  return behind.length < 2 || mayBe(behind[1]!, "scripts")
}

/** Where it begins nobody knows. */
function mayEndWith(path: string, root: string): boolean {
  const given = path.split("/").filter(Boolean)
  const at = given.findIndex((name, i) => i > 0 && mayBe(name, basename(root)))
  return at > 0 && (given.length - at < 3 || mayBe(given[at + 2]!, "scripts"))
}

function mayBe(given: string, name: string): boolean {
  return (
    given.toLowerCase() === name.toLowerCase() || (special.test(given) && Permission.couldBe(given, name))
  )
}

/** The names from the first to the second, in small letters; undefined where that is not in it. */
function wayFrom(root: string, path: string): string[] | undefined {
  const [from, to] = [root.toLowerCase(), path.toLowerCase()]
  if (from === to) return []
  const start = from.endsWith(sep) ? from : from + sep
  return to.startsWith(start) ? to.slice(start.length).split(sep) : undefined
}
