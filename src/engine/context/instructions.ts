// All instructions that a model always gets: the person's own, then the project's, each with the files that it imports.
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { type Action, isSecretFile } from "#ability/permission/permission.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { readDocument } from "#knowledge/index/read-document.ts"
import { maxRuleBytes, ruleNames } from "#knowledge/rules/create-nested-rules.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { shortPath } from "./shown-path.ts"

/** `title` says whose instructions these are, and where they come from. */
export type Instruction = { name: string; title: string; text: string }
export type RuleText = { name: string; path: string; text: string }

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

/** The first of the usual files that exists, or the configured one. `mayRead` is asked about its path and its real
 * path. */
export async function readRootFile(mayRead = (_: string) => true): Promise<RuleText | undefined> {
  const named = (await Config.get()).rules?.root
  for (const name of named === undefined || named === ruleNames[0] ? ruleNames : [named]) {
    const found = readRuleFile(name, mayRead)
    if (found) return found
  }
  return undefined
}

/** One instruction file, by its path from the root of the work tree. */
export function readRuleFile(name: string, mayRead = (_: string) => true): RuleText | undefined {
  const path = resolve(Instance.worktree, name)
  const text = readRules(path, mayRead)
  return text ? { name, path, text: Secret.redact(text) } : undefined
}

/** The text of an instruction file, bounded; undefined if it does not exist or cannot be read. It is not trusted: the read
 * never follows a link out of the work tree, and never reads from a pipe. */
function readRules(file: string, mayRead = (_: string) => true): string | undefined {
  if (!statOf(file)) return undefined
  // Only a person, or a trusted folder, can name a file elsewhere.
  const root = isInside(Instance.worktree, file) ? Instance.worktree : dirname(file)
  try {
    const { text, place, size, isCut } = readDocument({ root, path: file, maxBytes: maxRuleBytes })
    if (![file, place].every(mayRead)) return undefined
    const cut = isCut ? `\n[cut here: ${shortPath(file)} has ${size} bytes, read it for the rest]` : ""
    return text.trim() + cut
  } catch (error) {
    Log.warn("a file of instructions cannot be read", { file, error: errorText(error) })
    return undefined
  }
}
