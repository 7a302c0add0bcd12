// All instructions that a model always gets: the person's own, then the project's, each with the files that it imports.
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { type Action, isSecretFile } from "#ability/permission/permission.ts"
import * as Config from "#kernel/config/config.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/process/secret.ts"
import { readRootFile, readRules } from "./read-root-file.ts"
import { shortPath } from "./short-path.ts"

/** `title` says whose instructions these are, and where they come from. */
export type Instruction = { name: string; title: string; text: string }

/** `reading` decides about files of the project; the person may name any file. The root file is left out if a rule
 * denies it; its imports are read only if the rules allow that without a question. */
export async function readInstructions(
  reading: (path: string) => Action = (path) => (isSecretFile(path) ? "deny" : "allow"),
): Promise<Instruction[]> {
  const own = await ownFiles()
  const found: Instruction[] = []
  for (const path of own) {
    const text = readRules(path)
    if (!text) continue
    const name = shortPath(path)
    found.push({ name, title: `The person's own instructions, from ${name}`, text: Secret.redact(text) })
    found.push(...(await importsOf({ path, text }, { isOwn: true, mayRead: () => true })))
  }
  const root = await readRootFile((path) => reading(path) !== "deny")
  if (!root) return found
  const { name, path, text } = root
  found.push({ name, title: `The project's own instructions, from ${name}`, text })
  const mayRead = (path: string) => reading(path) === "allow"
  return [...found, ...(await importsOf({ path, text }, { isOwn: false, mayRead }))]
}

async function ownFiles(): Promise<string[]> {
  const named = (await Config.get()).rules?.own ?? []
  const usual = join(Global.config(), "AGENTS.md")
  return [...new Set([usual, ...named.map((path) => resolve(path.replace(/^~(?=\/)/, homedir())))])]
}

async function importsOf(
  file: { path: string; text: string },
  options: { isOwn: boolean; mayRead: (path: string) => boolean },
): Promise<Instruction[]> {
  if (!file.text.includes("@")) return []
  const { importRules } = await import("./import-rules.ts")
  return importRules(file, options).map(({ name, by, text }) => ({
    name,
    title: `From ${name}, which ${by} imports`,
    text,
  }))
}
