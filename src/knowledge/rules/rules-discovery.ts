// The rules of a project in three steps: the root file at once, linked documents if they fit the task, and the rules of a
// folder when a file in it is used. The program looks them up, not the model.
import { realpathSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import * as Log from "#kernel/process/log.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import { readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import type { Hit } from "#knowledge/index/types.ts"
import { errorText, NamedError } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { createNestedRules, findRuleFolders, maxRuleBytes, type RuleFile } from "./create-nested-rules.ts"
import { indexRules, maxDocumentBytes, namesOf, placeOf } from "./index-rules.ts"
import { openRulesTables, type RuleReference, withoutId } from "./rules-tables.ts"

export type { RuleReference } from "./rules-tables.ts"

export type RulesDiscoveryConfig = {
  /** Where rules are searched. Default: the folder of `rootPath`. */
  rootDir?: string
  /** The root file, if it has none of the usual names. */
  rootPath?: string
  /** In memory, unless a file is named. */
  dbPath?: string
  /** Without one, words alone are compared. Closed with the rest. */
  embedder?: Embedder
  /** Where relative paths start; default: the root. */
  cwd?: string
  /** Also search rules in subfolders of the root, for their links. Default: true. */
  scan?: boolean
  /** How many documents may be read and searched. */
  maxDocuments?: number
  /** How many bytes of them. */
  maxBytes?: number
}

/** `score` is the best score of the link and of the passages of the document; `text` and `vector` are the best of each
 * kind. `passages` are those that fit, by their first lines. */
export type ReferenceMatch = {
  reference: RuleReference
  score: number
  text?: Hit["text"]
  vector?: Hit["vector"]
  passages: { line: number; score: number }[]
}

export type RulesDiscoveryStats = {
  /** Files that links were taken from. */
  rules: number
  references: number
  /** The documents that links lead to, and the entries that they have in the index. */
  documents: number
  entries: number
  /** What was left out, and why; the first hundred. */
  problems: string[]
}

export type RulesDiscovery = ReturnType<typeof createRulesDiscovery>

const bounds = { folders: 10_000, files: 1_000 }
const mostDocuments = 20_000
const mostBytes = 256 << 20
const maxProblems = 100

class InvalidRoot extends NamedError {
  constructor(root: string | undefined, reason: string) {
    super("Rules.InvalidRoot", `The rules of ${JSON.stringify(root)} cannot be searched: ${reason}`, {
      root,
    })
  }
}

export function createRulesDiscovery(config: RulesDiscoveryConfig) {
  const { named, root } = rootOf(config)
  const { embedder, scan = true, maxDocuments = mostDocuments, maxBytes = mostBytes } = config
  const nested = createNestedRules({ root })
  const problems: string[] = []
  // Opened first, because this repairs a broken file.
  const index = createIndex({ ...(config.dbPath ? { path: config.dbPath } : {}), embedder })
  const tables = openRulesTables(config.dbPath)
  let rootFile = readRoot()
  let isReady = false
  let isClosed = false
  let work: Promise<void> = Promise.resolve()

  /** The text of the root file; "" if there is none. */
  function getRootRules(): string {
    return rootFile?.text ?? ""
  }

  /** The links that fit the task, the best first; each document once. */
  async function searchReferences(
    intent: string,
    { limit = 5 }: { limit?: number } = {},
  ): Promise<ReferenceMatch[]> {
    if (!isReady) await refresh()
    const wanted = Math.max(50, limit * 10)
    const hits = await index.search(intent, { limit: wanted })
    const matches = new Map<string, ReferenceMatch>()
    for (const hit of hits) addTo(matches, hit)
    // The chunks of one long document may fill all hits.
    if (matches.size < limit && hits.length === wanted)
      for (const path of tables.search(intent, 3 * limit)) {
        const group = relative(root, path)
        if (matches.size >= limit || matches.has(group)) continue
        for (const hit of await index.search(intent, { group, limit: 3 })) addTo(matches, hit)
      }
    return [...matches.values()].slice(0, limit)
  }

  function addTo(matches: Map<string, ReferenceMatch>, { id, score, text, vector }: Hit): void {
    const { path, line, link } = placeOf(id)
    const reference = matches.get(path)?.reference ?? referenceTo(join(root, path), link)
    if (!reference) return
    const match = matches.get(path) ?? { reference, score, passages: [] }
    if (line !== undefined) match.passages.push({ line, score })
    if (text && text.score > (match.text?.score ?? 0)) match.text = text
    if (vector && vector.score > (match.vector?.score ?? 0)) match.vector = vector
    matches.set(path, match)
  }

  /** Undefined if it is gone, is no text, or is outside the root. */
  async function getReferenceContent(reference: RuleReference): Promise<string | undefined> {
    try {
      return readDocument({ root, path: reference.absolutePath, maxBytes: maxDocumentBytes }).text
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }

  /** The passages that fit the task. */
  async function getRulesForIntent(intent: string): Promise<string[]> {
    const matches = await searchReferences(intent)
    const texts = await Promise.all(matches.map(({ reference }) => getReferenceContent(reference)))
    return texts.filter((text) => text !== undefined)
  }

  /** The rules of the folders on the way to a file, from the root's side to the leaf, without the root's own. */
  function getRulesForPath(filePath: string): string[] {
    return nested.onWayTo(inRoot(filePath)).map(({ text }) => text)
  }

  /** Brings everything up to date. Calls at the same time are done one after the other. */
  function refresh(): Promise<void> {
    work = work.catch(() => {}).then(update)
    return work
  }

  async function update(): Promise<void> {
    problems.length = 0
    rootFile = readRoot()
    const found = scan ? await findRuleFolders(root, bounds) : { folders: [], isCut: false }
    if (found.isCut) onProblem(root, `rules in more than ${bounds.folders} folders are not searched`)
    const below = found.folders.flatMap((folder) => nested.of(folder) ?? [])
    const sources = rootFile && isInside(root, rootFile.path) ? [rootFile, ...below] : below
    await indexRules(sources, { root, tables, index, maxDocuments, maxBytes, onProblem })
    isReady = true
  }

  function stats(): RulesDiscoveryStats {
    return { ...tables.counts(), problems: [...problems] }
  }

  /** Frees the database and the embedder. */
  async function close(): Promise<void> {
    await work.catch(() => {})
    if (isClosed) return
    isClosed = true
    tables.close()
    index.close()
    await embedder?.close()
  }

  /** The first link to a document with the text `namesOf(path)[link]`. */
  function referenceTo(path: string, link = 0): RuleReference | undefined {
    const name = namesOf(path, tables)[link]
    const found = tables.linksTo(path).find(({ displayText }) => displayText === name)
    return found && withoutId(found)
  }

  function readRoot(): RuleFile | undefined {
    if (config.rootPath === undefined) return nested.of(root)
    const path = inRoot(resolve(config.rootDir ?? "", config.rootPath))
    try {
      const folder = isInside(root, path) ? root : realpathSync(dirname(path))
      return { ...readDocument({ root: folder, path, maxBytes: maxRuleBytes }), path }
    } catch (error) {
      onProblem(path, errorText(error))
      return undefined
    }
  }

  /** The root may have been given by a path that is not its real one. */
  function inRoot(path: string): string {
    const absolute = resolve(config.cwd ?? named, path)
    return isInside(named, absolute) ? join(root, relative(named, absolute)) : absolute
  }

  function onProblem(path: string, reason: string): void {
    if (problems.length < maxProblems) problems.push(`${relative(root, path) || "."}: ${reason}`)
    Log.debug("a part of the rules is left out", { path, reason })
  }

  return Object.freeze({
    getRootRules,
    searchReferences,
    getReferenceContent,
    getRulesForIntent,
    getRulesForPath,
    refresh,
    stats,
    close,
  })
}

function rootOf({ rootDir, rootPath }: RulesDiscoveryConfig): { named: string; root: string } {
  const named = rootDir ?? (rootPath === undefined ? undefined : dirname(rootPath))
  if (named === undefined) throw new InvalidRoot(named, "neither rootDir nor rootPath says where")
  try {
    return { named: resolve(named), root: realpathSync(named) }
  } catch (error) {
    throw new InvalidRoot(named, errorText(error))
  }
}
