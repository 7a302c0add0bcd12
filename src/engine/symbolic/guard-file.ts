// Guards in TypeScript: the files of `.vitamin/guards`, if a person has reviewed them, the person's own files, and those of
// plugins. A text in `waitFor` or `block` is a pattern there. A file that cannot be used is reported and does not affect the others.
import { basename, join } from "node:path"
import { inspect } from "node:util"
import {
  bSync,
  bThread,
  type Idiom,
  type Listener,
  type RuleThread,
  type Thread,
} from "#kernel/behavioral/behavioral.ts"
import { importModule } from "#kernel/config/typescript.ts"
import { installed, type Plugin } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { guardFolder, isGuardFile } from "#kernel/reviewed/places.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { patternProblem } from "#kernel/schema/guard-schema.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { namesIn, statOf } from "#util/file/path-info.ts"
import type { Guard, GuardPatterns } from "./guard.ts"
import { matches } from "./pattern.ts"

/** What a file exports, by default or under a name. */
export type GuardDefinition = {
  /** Why it blocks, for the model and for people. */
  because: string
  /** What ends the block, in words. */
  until?: string
  thread: Thread
}
export type Found = { guards: Guard[]; problems: string[] }

const maxFiles = 100

/** A text that changes whenever a file or the review of the folder changes. */
export async function stampOf(worktree: string): Promise<string> {
  const files = [...folders(worktree), ...pluginFolders().map(({ folder }) => folder)].flatMap(filesIn)
  if (!files.length) return ""
  const marks = files.map((file) => {
    const { ino, size, mtimeMs } = statOf(file) ?? {}
    return [file, ino, size, mtimeMs]
  })
  return JSON.stringify([marks, (await Reviewed.of(worktree)).stamp])
}

export async function readGuardFiles(worktree: string): Promise<Found> {
  const found: Found = { guards: [], problems: [] }
  const [own, project] = folders(worktree) as [string, string]
  for (const folder of [own, project]) {
    const left = allIn(folder).length - maxFiles
    if (left > 0) found.problems.push(`${folder}: ${left} of its files are not used: at most ${maxFiles} are`)
  }
  for (const file of filesIn(own)) await read(file, undefined)
  const files = filesIn(project)
  const reviewed = files.length ? await Reviewed.of(worktree) : undefined
  for (const file of files) await read(file, reviewed)
  for (const { folder, plugin } of pluginFolders())
    for (const file of filesIn(folder)) await read(file, plugin.reviewed)
  return found

  async function read(file: string, reviewed: Reviewed.Reviewed | undefined): Promise<void> {
    try {
      found.guards.push(...(await guardsIn(file, reviewed)))
    } catch (error) {
      found.problems.push(`${file}: its guards are not used: ${errorText(error)}`)
    }
  }
}

function pluginFolders(): { folder: string; plugin: Plugin }[] {
  return installed().flatMap((plugin) =>
    plugin.parts.guards.map((path) => ({ folder: join(plugin.root, path), plugin })),
  )
}

function folders(worktree: string): string[] {
  return [join(Global.config(), "guards"), join(worktree, guardFolder)]
}

function filesIn(folder: string): string[] {
  return allIn(folder).slice(0, maxFiles)
}

function allIn(folder: string): string[] {
  const names = namesIn(folder).filter(isGuardFile).sort()
  return names.map((name) => join(folder, name))
}

async function guardsIn(file: string, reviewed: Reviewed.Reviewed | undefined): Promise<Guard[]> {
  const bytes = await readSmallFile(file, reviewed?.root)
  if (!bytes) throw new Error("the file is gone")
  const reason = reviewed?.refusal(file, bytes)
  if (reason) throw new Error(reason)
  const exported = Object.entries(await importModule(file, bytes, { reviewed }))
  const guards = exported.flatMap(([name, value]) => guardOf(name, value, file))
  if (!guards.length) throw new Error("it exports no guard; write export default { because: …, thread: … }")
  return guards
}

function guardOf(name: string, value: unknown, file: string): Guard[] {
  // Other objects may be exported for the tests of a guard.
  if (typeof value !== "object" || value === null || !("thread" in value || "because" in value)) return []
  const { because, until, thread } = value as Partial<GuardDefinition>
  const own = name === "default" ? basename(file, ".ts") : name
  const refuse = (problem: string) => new Error(`guard "${own}": ${problem}`)
  for (const key of Object.keys(value)) if (!guardKeys.includes(key)) throw refuse(unknownKey(key, guardKeys))
  if (typeof because !== "string" || !because) throw refuse("because must be a text")
  if (typeof thread !== "function") throw refuse("thread must be a function that makes a generator")
  if (until !== undefined && typeof until !== "string") throw refuse("until must be a text")
  const about = { ...(until === undefined ? {} : { until }), patterns: patternsIn(thread) }
  const converted = withPatterns(thread, refuse)
  return [Object.freeze({ name: own, source: file, because, ...about, isCode: true, thread: converted })]
}

/** The patterns of a thread of rules. Functions and generators do not show theirs. */
function patternsIn(thread: Thread | RuleThread): GuardPatterns {
  const idioms = "rules" in thread ? thread.rules.map(({ idiom }) => idiom) : []
  const textsIn = (key: "block" | "waitFor") =>
    idioms.flatMap((idiom) => [idiom[key] ?? []].flat()).filter((one) => typeof one === "string")
  return { when: [], block: textsIn("block"), until: textsIn("waitFor") }
}

/** A thread of rules stays one, so that it can be explored. */
function withPatterns(thread: Thread | RuleThread, refuse: (problem: string) => Error): Thread {
  if ("rules" in thread) {
    const rules = thread.rules.map(({ idiom, next }, i) => {
      try {
        return bSync(convert(idiom), next)
      } catch (error) {
        throw refuse(`rule ${i + 1}: ${errorText(error)}`)
      }
    })
    return bThread(rules, thread.repeat)
  }
  return function* () {
    const converted = new WeakMap<Idiom, Idiom>()
    const steps = thread()
    for (let next = steps.next(); !next.done; ) {
      if (next instanceof Promise) throw notAsync(next)
      const idiom = converted.get(next.value) ?? convert(next.value)
      converted.set(next.value, idiom)
      next = steps.next(yield idiom)
    }
  }
}

/** An error in an async thread would end the process. */
function notAsync(step: Promise<unknown>): Error {
  step.catch(() => {})
  return new Error("thread must be a generator function that is not async")
}

const guardKeys = ["because", "until", "thread"]
const idiomKeys = ["request", "waitFor", "block", "interrupt"]

function unknownKey(key: string, known: readonly string[]): string {
  return `${key}: the key is unknown; there are ${known.join(", ")}`
}

/** Throws if the idiom has a key or a pattern that cannot be meant: its guard would guard nothing. */
function convert(idiom: Idiom): Idiom {
  if (typeof idiom !== "object" || idiom === null)
    throw new Error(`expected an object with ${idiomKeys.join(", ")}; received ${inspect(idiom)}`)
  for (const key of Object.keys(idiom))
    if (!idiomKeys.includes(key)) throw new Error(unknownKey(key, idiomKeys))
  const { waitFor, block } = idiom
  return {
    ...idiom,
    ...(waitFor === undefined ? {} : { waitFor: listener("waitFor", waitFor) }),
    ...(block === undefined ? {} : { block: listener("block", block) }),
  }
}

function listener(key: string, given: Listener | readonly Listener[]): Listener | readonly Listener[] {
  if (typeof given === "function") return given
  if (typeof given === "string") {
    const problem = patternProblem(given, true)
    if (problem) throw new Error(`${key}: ${problem}`)
    return matches(given)
  }
  if (!Array.isArray(given))
    throw new Error(`${key}: expected a pattern, a function, or a list of them; received ${inspect(given)}`)
  return given.flatMap((one: Listener) => listener(key, one))
}
