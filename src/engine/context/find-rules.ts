// Finds the documents that a project's instructions link to and that fit the prompt: whole, or the passages that fit
// best. The index is a database that can be deleted at any time.
import { createHash } from "node:crypto"
import { dirname, join, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import type { ReferenceMatch, RulesDiscovery } from "#knowledge/rules/rules-discovery.ts"
import { realOf } from "#util/file/path-info.ts"
import { type RuleText, readRootFile, readRuleFile } from "./instructions.ts"
import type { Note } from "./notes.ts"

export type Options = {
  /** In tokens. */
  budget: number
  /** Names of the rules that the model still sees. */
  known?: ReadonlySet<string>
  /** Instruction files in subfolders whose links count too, by their paths from the root. */
  nested?: readonly string[]
  /** Whether the person's rules allow reading a file. */
  mayRead?: (path: string) => boolean
}
type Opened = { rules: RulesDiscovery; hasCosines: boolean; dbPath: string }
type Found = { intent: string; match: ReferenceMatch }

/** A person waits for the first scan, so it is limited. */
const maxDocuments = 300
const maxBytes = 8 << 20
const mostNotes = 3
/** The share of the remaining budget that one document may use. */
const share = 0.6
/** A further document must score nearly as high as the first. */
const nearly = 0.7
/** With fewer tokens, no rule is sent. */
const fewestTokens = 60

const opened = Instance.state(
  () => new Map<string, Promise<Opened>>(),
  async (all) => {
    // An index that failed to open has nothing to close, and must not keep the others open.
    for (const one of all.values()) {
      const found = await one.catch(() => undefined)
      if (!found) continue
      await found.rules.close()
      const { pruneIndexes } = await import("#knowledge/index/prune-indexes.ts")
      pruneIndexes(dirname(found.dbPath))
    }
  },
)

/** A quick check whether the instructions link to any document. */
export async function mayHaveRules(): Promise<boolean> {
  return hasLinks(await readRootFile())
}

/** The notes for a prompt. */
export async function findRules(intent: string, options: Options): Promise<Note[]> {
  const { nested = [], mayRead } = options
  const notes: Note[] = []
  let { budget } = options
  for (const file of [await readRootFile(), ...nested.map((name) => readRuleFile(name, mayRead))]) {
    if (!file || !hasLinks(file) || budget < fewestTokens) continue
    const { rules, hasCosines } = await openFor(file)
    await rules.refresh()
    const known = new Set([...(options.known ?? []), ...notes.map(({ name }) => name)])
    const found = await notesFor(await search(rules, intent), {
      ...options,
      budget,
      known,
      rules,
      hasCosines,
    })
    for (const { text } of found) budget -= estimateTokens(text)
    notes.push(...found)
  }
  return notes
}

/** Searches for the whole text and for each sentence, the best results first. */
async function search(rules: RulesDiscovery, words: string): Promise<Found[]> {
  const { piecesOf } = await import("#knowledge/skill/skill-fit.ts")
  const found: Found[] = []
  for (const intent of piecesOf(words)) {
    const matches = await rules.searchReferences(intent, { limit: 2 * mostNotes })
    found.push(...matches.map((match) => ({ intent, match })))
  }
  return found.sort((a, b) => (b.match.vector?.score ?? 0) - (a.match.vector?.score ?? 0))
}

async function notesFor(
  found: Found[],
  { rules, hasCosines, budget, known, mayRead = () => true }: Options & Omit<Opened, "dbPath">,
): Promise<Note[]> {
  const { takePassages } = await import("./take-passages.ts")
  const notes = new Map<string, Note>()
  let left = budget
  let nearest: number | undefined
  for (const { intent, match } of found) {
    if (notes.size === mostNotes || left < fewestTokens) break
    const cosine = hasCosines ? match.vector?.score : undefined
    if (cosine !== undefined && nearest !== undefined && cosine < nearly * nearest) continue
    const path = relative(Instance.worktree, match.reference.absolutePath)
    if (notes.has(path) || !placesOf(match).every(mayRead)) continue
    const content = await documentOf(rules, match)
    if (!content) continue
    const tokens = Math.floor(left * share)
    const note = takePassages({ path, content, match, intent, tokens, cosine })
    if (!note) continue
    nearest ??= cosine
    // The model has seen the document, or these passages.
    if (known?.has(path) || known?.has(note.name)) continue
    left -= estimateTokens(note.text)
    notes.set(path, note)
  }
  return [...notes.values()]
}

/** The index of an instruction file. It is opened with the first prompt that may need it, and closed with the instance.
 * */
async function openFor({ name }: RuleText): Promise<Opened> {
  const { getEmbedder } = await import("#ability/provider/get-embedder.ts")
  const embedder = await getEmbedder()
  const all = opened()
  const key = JSON.stringify([name, embedder?.id])
  const made = all.get(key) ?? open(name, embedder)
  all.set(key, made)
  made.catch(() => all.delete(key))
  return made
}

async function open(rootPath: string, embedder: Embedder | undefined): Promise<Opened> {
  const { createRulesDiscovery } = await import("#knowledge/rules/rules-discovery.ts")
  const { embeddedFacts } = await import("#knowledge/embedder/embedded-model.ts")
  const { noteIndexUse } = await import("#knowledge/index/note-index-use.ts")
  const { worktree: rootDir } = Instance
  const id = createHash("sha256").update(`${rootDir}\0${rootPath}`).digest("hex").slice(0, 40)
  const dbPath = join(Global.cache(), "rules", `${id}.db`)
  noteIndexUse(dbPath, rootDir)
  const rules = createRulesDiscovery({
    rootDir,
    rootPath,
    dbPath,
    // Other sessions use the index too.
    ...(embedder ? { embedder: { ...embedder, close: async () => {} } } : {}),
    // Instruction files of subfolders are sent when a tool touches something there (nested-rules.ts).
    scan: false,
    maxDocuments,
    maxBytes,
  })
  // The threshold for a near match is known for the embedded model only.
  return { rules, hasCosines: embedder?.id === embeddedFacts.id, dbPath }
}

/** The path of a document by its name, and its real path. */
function placesOf({ reference: { absolutePath } }: ReferenceMatch): string[] {
  return [absolutePath, realOf(absolutePath) ?? absolutePath]
}

async function documentOf(rules: RulesDiscovery, { reference }: ReferenceMatch): Promise<string | undefined> {
  if (!/\.(?:md|mdx|markdown)$/i.test(reference.absolutePath)) return undefined
  const content = await rules.getReferenceContent(reference)
  return content?.trim() ? content : undefined
}

function hasLinks(root: RuleText | undefined): boolean {
  return root !== undefined && /\]\((?![a-z][a-z\d+.-]+:)[^()]*\.(?:md|mdx|markdown)\b/i.test(root.text)
}
