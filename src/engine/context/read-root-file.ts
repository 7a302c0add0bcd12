// Reads a project's instruction file in its root. The file is not trusted: the read is bounded, never follows a link
// out of the work tree, and never reads from a pipe.
import { readSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"
import { maxRuleBytes, ruleNames } from "#knowledge/rules/create-nested-rules.ts"
import { errorCode, errorText } from "#util/error.ts"
import { isInside, openInside } from "#util/file/resolve-inside.ts"
import { shortPath } from "./short-path.ts"

export type RuleText = { name: string; path: string; text: string }

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

/** The text of an instruction file, bounded; undefined if it does not exist or cannot be read. */
export function readRules(file: string, mayRead = (_: string) => true): string | undefined {
  const { worktree } = Instance
  // Only a person, or a trusted folder, can name a file elsewhere.
  const root = isInside(worktree, file) ? worktree : dirname(file)
  try {
    using handle = openInside([root], relative(root, file))
    if (!mayRead(file) || !mayRead(handle.place)) return undefined
    const buffer = Buffer.alloc(maxRuleBytes)
    const { size } = handle.stat
    let length = 0
    for (let got = -1; got !== 0 && length < maxRuleBytes; length += got)
      got = readSync(handle.fd, buffer, length, maxRuleBytes - length, length)
    // Leave out a character that the limit cuts in two.
    const text = new TextDecoder().decode(buffer.subarray(0, length), { stream: size > length }).trim()
    return size > length
      ? `${text}\n[cut here: ${shortPath(file)} has ${size} bytes, read it for the rest]`
      : text
  } catch (error) {
    if (errorCode(error) !== "ENOENT")
      Log.warn("a file of instructions cannot be read", { file, error: errorText(error) })
    return undefined
  }
}
