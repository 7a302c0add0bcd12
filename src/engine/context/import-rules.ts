// Files that instructions import with `@path`: `@docs/style.md`, `@../shared.md`, `@~/team.md`. Code and comments
// import nothing. A project's instruction file imports nothing from outside the work tree, not even through links,
// because the content would reach the provider.
import { homedir } from "node:os"
import { dirname, resolve } from "node:path"
import { isSecretFile } from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { readDocument } from "#knowledge/index/read-document.ts"
import { maxRuleBytes } from "#knowledge/rules/create-nested-rules.ts"
import { errorText } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { paragraphsOf } from "#util/parse/markdown-paragraphs.ts"
import { shortPath } from "./shown-path.ts"

export type Imported = { name: string; by: string; text: string }
type Source = { path: string; text: string }

const maxDepth = 5
const maxFiles = 20
const maxBytes = 64 << 10
const word = /(?<=^|[\s(])@(~?[^\s@()<>"'`*]+)/gm
/** Only missing files with such a name are reported: another `@word` is probably a mention or a package. */
const looksLikeFile = /^[~.]|\.(?:md|mdc|txt|markdown|rst)$/

/** Instructions are read for every prompt; a problem with them is reported once. */
const reported = Instance.state(() => new Set<string>())

/** In the order of the imports, each file once, followed by its own imports. `isOwn`: the person's own file. */
export function importRules(
  file: Source,
  options: { isOwn: boolean; mayRead: (path: string) => boolean },
): Imported[] {
  const { isOwn, mayRead } = options
  const root = isOwn ? "/" : Instance.worktree
  const found: Imported[] = []
  const places = new Set([file.path])
  let bytes = 0
  const leaveOut = (path: string, by: Source, reason: string) => {
    const key = JSON.stringify([path, by.path])
    if (reported().has(key)) return
    reported().add(key)
    Log.warn("an import in the instructions is not read", { path, in: shortPath(by.path), reason })
  }

  const read = (written: string, by: Source, depth: number) => {
    const path = placeOf(written, by)
    if (!isInside(root, path)) return leaveOut(written, by, "it is outside of the project")
    let document: ReturnType<typeof readDocument>
    try {
      document = readDocument({ root, path, maxBytes: maxRuleBytes })
    } catch (error) {
      if (looksLikeFile.test(written)) leaveOut(written, by, errorText(error))
      return
    }
    if (places.has(document.place)) return
    places.add(document.place)
    const both = [path, document.place]
    if (!both.every(mayRead)) return leaveOut(written, by, whyNot(both))
    if (found.length >= maxFiles || bytes + document.bytes.length > maxBytes)
      return leaveOut(written, by, `all imports together may be ${maxFiles} files and ${maxBytes} bytes`)
    bytes += document.bytes.length
    const text = document.text.trim()
    const cut = document.isCut ? `\n[cut here: ${shortPath(path)} has ${document.size} bytes]` : ""
    found.push({ name: shortPath(path), by: shortPath(by.path), text: Secret.redact(text) + cut })
    walk({ path, text }, depth + 1)
  }
  const walk = (from: Source, depth: number) => {
    for (const written of importsIn(from.text))
      if (depth < maxDepth) read(written, from, depth)
      else leaveOut(written, from, `imports are followed ${maxDepth} files deep`)
  }
  walk(file, 0)
  return found
}

function whyNot(paths: string[]): string {
  return paths.some(isSecretFile)
    ? "it may hold secrets, and no rule that names it allows reading it"
    : "the rules do not allow reading it without a question"
}

/** The path after each `@`, without the punctuation of the sentence. */
function importsIn(text: string): string[] {
  if (!text.includes("@")) return []
  return paragraphsOf(text).flatMap(({ masked }) =>
    [...masked.matchAll(word)].map(([, path]) => path!.replace(/[.,;:!?]+$/, "")).filter(Boolean),
  )
}

function placeOf(written: string, by: Source): string {
  if (written.startsWith("~/")) return resolve(homedir(), written.slice(2))
  return resolve(dirname(by.path), written)
}
