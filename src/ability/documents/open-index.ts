// The document indexes of this instance: one for each folder, opened when a search first needs it, closed with the instance.
import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as Permission from "#ability/permission/permission.ts"
import { getEmbedder } from "#ability/provider/get-embedder.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { createDocumentIndex, type DocumentIndex } from "#knowledge/documents/document-index.ts"
import { isDocument } from "#knowledge/documents/read-content.ts"
import { createListing, type Listing } from "#knowledge/documents/watch-listing.ts"
import { withEverydayWords } from "#knowledge/embedder/with-everyday-words.ts"
import { noteIndexUse } from "#knowledge/index/note-index-use.ts"
import { pruneIndexes } from "#knowledge/index/prune-indexes.ts"
import { hashText } from "#util/hash-text.ts"

const opened = Instance.state(
  () => new Map<string, Promise<DocumentIndex>>(),
  async (all) => {
    for (const index of all.values()) await index.then((one) => one.close()).catch(() => undefined)
    if (all.size) pruneIndexes(indexFolder())
  },
)

/** The index of a folder, by its real path. Files that are ignored, hidden or usually hold secrets are left out. */
export function openIndex(folder: string): Promise<DocumentIndex> {
  const accepts = (file: string) => isDocument(file) && !Permission.isSecretFile(file)
  return open(folder, createListing({ folder, accepts }))
}

/** The index of one of our own folders: all its Markdown files. */
export function openNotes(folder: string): Promise<DocumentIndex> {
  return open(folder, async (): Promise<Listing> => ({ files: noteNames(folder), isCut: false }))
}

/** The Markdown files of a folder; links are left out. */
export function noteNames(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries
      .flatMap((entry) => (entry.isFile() && entry.name.endsWith(".md") ? [entry.name] : []))
      .sort()
  } catch {
    return []
  }
}

async function open(
  folder: string,
  list: (signal?: AbortSignal) => Promise<Listing>,
): Promise<DocumentIndex> {
  const chosen = await getEmbedder()
  const embedder = chosen && withEverydayWords(chosen)
  const all = opened()
  const key = JSON.stringify([folder, embedder?.id])
  const made = all.get(key) ?? create(folder, { list, embedder })
  all.set(key, made)
  made.catch(() => all.delete(key))
  return made
}

async function create(
  folder: string,
  { list, embedder }: Pick<Parameters<typeof createDocumentIndex>[0], "list" | "embedder">,
): Promise<DocumentIndex> {
  const path = join(indexFolder(), `${hashText(folder)}.db`)
  noteIndexUse(path, folder)
  return createDocumentIndex({ folder, path, list, embedder })
}

function indexFolder(): string {
  return join(Global.cache(), "documents")
}
