// Updates the index of rules: follows the links of rule files and of their documents one step further, reads and
// splits changed documents, and removes deleted ones.
import { relative } from "node:path"
import { setImmediate } from "node:timers/promises"
import { readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import type { Document, Index } from "#knowledge/index/types.ts"
import { statOf } from "#util/file/path-info.ts"
import { chunkMarkdown } from "./chunk-markdown.ts"
import { collectLinks, isDocument } from "./collect-links.ts"
import type { RuleFile } from "./create-nested-rules.ts"
import type { RuleReference, RulesTables, Seen } from "./rules-tables.ts"

export type Setting = {
  root: string
  tables: RulesTables
  index: Index
  maxDocuments: number
  /** Bytes of all documents together that are read. */
  maxBytes: number
  onProblem(path: string, reason: string): void
}

/** The number of links between the rules and a document. 0: there is too much to read, so only the links to it are
 * searched. */
type Depth = 0 | 1 | 2

/** Bytes of a document that are read and searched. */
export const maxDocumentBytes = 1 << 20
/** Link texts of a document that are searched. */
const maxNames = 20
const maxBatch = 5_000
const unread = { text: "", problem: "it is not searched: the documents before it reach the limit" }

export async function indexRules(sources: readonly RuleFile[], setting: Setting): Promise<void> {
  const { tables, index } = setting
  // If the index lost entries, or has unknown ones, it is rebuilt.
  if (tables.counts().entries !== index.size()) {
    tables.clear()
    index.remove(index.ids())
  }
  const { targets, kept } = await follow(sources, setting)
  for (const path of tables.sources()) if (!kept.has(path)) tables.removeSource(path)
  for (const path of tables.documents()) if (!targets.has(path)) removeDocument(path, setting)
  await putAll([...targets], setting)
}

/** Follows links from the rule files to documents, and from these to others. Each is followed once, so circles end. */
async function follow(
  sources: readonly RuleFile[],
  setting: Setting,
): Promise<{ targets: Map<string, Depth>; kept: Set<string> }> {
  const { tables, root, onProblem, maxDocuments, maxBytes } = setting
  const targets = new Map<string, Depth>()
  const kept = new Set(sources.map(({ path }) => path))
  let [left, bytes] = [0, 0]
  const add = (links: RuleReference[], depth: 1 | 2) => {
    for (const { absolutePath } of links) {
      if (targets.has(absolutePath)) continue
      if (targets.size >= maxDocuments) {
        left++
        continue
      }
      bytes += Math.min(maxDocumentBytes, statOf(absolutePath)?.size ?? 0)
      targets.set(absolutePath, bytes > maxBytes ? 0 : depth)
    }
  }
  for (const file of sources) {
    tables.putSource(file, collectLinks(file, { ...setting, of: "rules" }))
    add(tables.linksFrom(file.path), 1)
  }
  for (const [path, depth] of [...targets]) {
    if (kept.has(path) || !isDocument(path) || depth === 0) continue
    await setImmediate()
    if (!isSame(path, 1, setting)) takeLinks(path, setting)
    const links = tables.linksFrom(path)
    if (links.length) kept.add(path)
    add(links, 2)
  }
  if (left) onProblem(root, `${left} more links are not followed; ${maxDocuments} documents are the most`)
  return { targets, kept }
}

/** An unreadable document is reported later, when it is indexed. */
function takeLinks(path: string, { tables, root, onProblem }: Setting): void {
  try {
    const file = { ...readDocument({ root, path, maxBytes: maxDocumentBytes }), path }
    const links = collectLinks(file, { root, onProblem, of: "document" })
    if (links.length) tables.putSource(file, links)
    else tables.removeSource(path)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    tables.removeSource(path)
  }
}

async function putAll(targets: [path: string, depth: Depth][], setting: Setting): Promise<void> {
  const batch: Entry[] = []
  for (const [path, depth] of targets) {
    if (isSame(path, depth, setting)) continue
    await setImmediate()
    batch.push(entryOf(path, depth, setting))
    if (batch.reduce((sum, { documents }) => sum + documents.length, 0) >= maxBatch)
      await put(batch.splice(0), setting)
  }
  await put(batch, setting)
  for (const [path] of targets) {
    const problem = setting.tables.seen(path)?.problem
    if (problem) setting.onProblem(path, problem)
  }
}

type Entry = Omit<Seen, "entries"> & { path: string; text: string; documents: Document[] }

/** The index is written first: after an interruption, the work is done again. */
async function put(batch: Entry[], { tables, index, root }: Setting): Promise<void> {
  if (!batch.length) return
  for (const { path } of batch) if (tables.seen(path)) removeDocument(path, { tables, index, root })
  await index.put(batch.flatMap(({ documents }) => documents))
  tables.transact(() => {
    for (const { path, text, documents, ...seen } of batch) {
      tables.putWords(path, text)
      tables.see(path, { ...seen, entries: documents.length })
    }
  })
}

/** What an entry of the index is: a chunk of a document by its line, or a link to it by its place among `names`. */
export function placeOf(id: string): { path: string; line?: number; link?: number } {
  const [, mark, number, path = ""] = /^(#?)(\d+)\S* (.*)$/s.exec(id) ?? []
  return mark ? { path, link: Number(number) } : { path, line: Number(number) }
}

/** Each link is found by its text, and each chunk of its target by that text as well. */
function entryOf(path: string, depth: Depth, setting: Setting): Entry {
  const { tables, root } = setting
  const group = relative(root, path)
  const names = namesOf(path, tables)
  const stat = statOf(path)
  const { text, problem } = depth === 0 ? unread : contentOf(path, setting)
  const links = names.map((name, i) => ({ id: `#${i} ${group}`, group, name, text: "" }))
  const chunks = chunkMarkdown(text).map(({ heading, line, text: words }, i) => ({
    id: `${line}.${i} ${group}`,
    group,
    name: [names[0], heading].filter(Boolean).join(" > "),
    text: words,
  }))
  return {
    path,
    key: keyOf(path, depth, tables),
    mtime: Math.floor(stat?.mtimeMs ?? 0),
    size: stat?.size ?? -1,
    problem,
    text,
    documents: [...links, ...chunks],
  }
}

function contentOf(path: string, { root }: Setting): { text: string; problem: string | null } {
  if (!isDocument(path)) return { text: "", problem: null }
  try {
    const { text, isCut, size } = readDocument({ root, path, maxBytes: maxDocumentBytes })
    const cut = `it has ${size} bytes, and only the first ${maxDocumentBytes} are searched`
    return { text, problem: isCut ? cut : null }
  } catch (error) {
    if (error instanceof Unreadable) return { text: "", problem: String(error.data.reason) }
    throw error
  }
}

function isSame(path: string, depth: Depth, { tables }: Setting): boolean {
  const seen = tables.seen(path)
  if (!seen) return false
  const stat = statOf(path)
  if (seen.size !== (stat?.size ?? -1) || seen.mtime !== Math.floor(stat?.mtimeMs ?? 0)) return false
  return seen.key === keyOf(path, depth, tables)
}

/** The links to a document are part of its search text. */
function keyOf(path: string, depth: Depth, tables: RulesTables): string {
  const links = tables.linksTo(path).map(({ id, displayText }) => [id, displayText])
  return JSON.stringify([depth, ...links.slice(0, maxNames)])
}

/** The different texts of the links to a document. */
export function namesOf(path: string, tables: RulesTables): string[] {
  return [...new Set(tables.linksTo(path).map(({ displayText }) => displayText))].slice(0, maxNames)
}

/** The order matters: after an interruption, the counts show that entries have no document. */
function removeDocument(path: string, { tables, index, root }: Pick<Setting, "tables" | "index" | "root">) {
  tables.forget(path)
  index.removeGroup(relative(root, path))
}
