// Promoted scripts: code that an agent wrote and that a person keeps for later. A project keeps them in a file, or where
// the functions of its configuration put them. A script runs only if a person on this machine has reviewed this very code,
// and used it or reviewed it in the last days (`scripts.expirationDays`).
import { createHash } from "node:crypto"
import { z } from "zod"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorText, NamedError } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import { languages } from "./languages.ts"
import { scriptFile } from "./script-place.ts"

export const Info = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "lower-case letters, digits and hyphens are expected"),
  description: z.string().max(500),
  language: z.enum(languages),
  /** Its lines, so that a difference of the file can be read. */
  code: z.array(z.string()),
})
export type Info = z.infer<typeof Info>
/** `expires`: when it needs another review, in milliseconds. */
export type Listed = Info & { state: "ready" | "new" | "expired"; expires?: number }

const Stored = z.strictObject({ scripts: z.array(Info).max(200) })
/** When a script was reviewed or used last, by the hash of its content. */
type Reviews = Record<string, number>
type Callbacks = { load(): Promise<unknown>; save(scripts: Info[]): Promise<unknown> }

const maxFile = 4 << 20
const day = 86_400_000
const usualDays = 30

class NotFound extends NamedError {
  constructor(name: string, available: string[]) {
    const near = nearest(name, available)
    const named = available.join(", ") || "none"
    super(
      "Script.NotFound",
      `Script ${JSON.stringify(name)} does not exist. Available: ${named}${near ? `. Did you mean "${near}"?` : ""}`,
      { name, available },
    )
  }
}

class NotReady extends NamedError {
  constructor({ name, state }: Listed) {
    const why =
      state === "new" ? "nobody has reviewed its code" : "it was not used for so long that it expired"
    super(
      "Script.NotReady",
      `Script ${JSON.stringify(name)} does not run: ${why}. A person reviews it with "${ownCommand} script review ${name}".`,
      { name, state },
    )
  }
}

class Invalid extends NamedError {
  constructor(source: string, reason: string) {
    super("Script.Invalid", `The promoted scripts in ${source} cannot be read: ${reason}`, { source })
  }
}

/** All scripts of the project, by name. */
export async function list(): Promise<Listed[]> {
  const reviews = await readReviews()
  const days = (await Config.get()).scripts?.expirationDays ?? usualDays
  return (await readAll()).map((script) => {
    const reviewed = reviews[hashOf(script)]
    if (reviewed === undefined) return { ...script, state: "new" as const }
    const expires = reviewed + days * day
    return { ...script, state: expires > Date.now() ? ("ready" as const) : ("expired" as const), expires }
  })
}

/** Throws `NotFound`. */
export async function get(name: string): Promise<Listed> {
  const all = await list()
  const found = all.find((script) => script.name === name)
  if (found) return found
  throw new NotFound(
    name,
    all.map((script) => script.name),
  )
}

/** A script that may run now; the run counts as a use. */
export async function use(name: string): Promise<Info> {
  const script = await get(name)
  if (script.state !== "ready") throw new NotReady(script)
  await review([script])
  return script
}

/** Keep a script that a person has reviewed. It replaces one of the same name. */
export async function promote(script: Info): Promise<void> {
  const others = (await readAll()).filter(({ name }) => name !== script.name)
  await writeAll([...others, script])
  await review([script])
}

/** Record that a person has reviewed scripts as they are. */
export async function review(scripts: readonly Info[]): Promise<void> {
  await Reviewed.updateOrReplace<Reviews>(
    reviewKey(),
    (reviews) => {
      for (const script of scripts) reviews[hashOf(script)] = Date.now()
    },
    {},
  )
}

export async function remove(name: string): Promise<void> {
  await get(name)
  await writeAll((await readAll()).filter((script) => script.name !== name))
}

async function readAll(): Promise<Info[]> {
  const { scripts } = await Config.get()
  const source = callbacksOf(scripts) ? "scripts.load of the configuration" : scriptFile(scripts)
  const parsed = Stored.safeParse(await readStored(source, scripts))
  if (parsed.success) return parsed.data.scripts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const { path, message } = parsed.error.issues[0]!
  throw new Invalid(source, `${path.join(".")}: ${message}`)
}

async function readStored(source: string, settings: Config.Info["scripts"]): Promise<unknown> {
  try {
    const callbacks = callbacksOf(settings)
    if (callbacks) return { scripts: await callbacks.load() }
    const bytes = await readSmallFile(source, undefined, maxFile)
    return bytes ? JSON.parse(bytes.toString()) : { scripts: [] }
  } catch (error) {
    throw new Invalid(source, errorText(error))
  }
}

async function writeAll(scripts: Info[]): Promise<void> {
  const settings = (await Config.get()).scripts
  const sorted = scripts.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const callbacks = callbacksOf(settings)
  if (callbacks) await callbacks.save(sorted)
  else await replaceFile(scriptFile(settings), `${JSON.stringify({ scripts: sorted }, null, 2)}\n`)
}

function callbacksOf(settings: Config.Info["scripts"]): Callbacks | undefined {
  return settings?.persistence === "callback" ? (settings as unknown as Callbacks) : undefined
}

async function readReviews(): Promise<Reviews> {
  if (Storage.isKnownMissing(reviewKey())) return {}
  // Without a readable record nothing is reviewed.
  return { ...(await Storage.read<Reviews | null>(reviewKey()).catch(() => undefined)) }
}

function reviewKey(): string[] {
  return Reviewed.keyOf(Instance.worktree, "script")
}

/** All of it was reviewed: the same code under another name is another script, and the model reads the description. */
function hashOf({ name, description, language, code }: Info): string {
  const text = JSON.stringify([name, description, language, code])
  return createHash("sha256").update(text).digest("hex")
}
