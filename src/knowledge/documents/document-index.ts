// The search index of a folder of documents: passages with their lines, by words and by meaning. A changed, new or removed
// file is noticed at the next search. All of it can be made again from the folder.
import { basename, dirname, extname, join } from "node:path"
import { setImmediate } from "node:timers/promises"
import * as Secret from "#kernel/secret/secret.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { inMemory } from "#knowledge/index/open-database.ts"
import { Unreadable } from "#knowledge/index/read-document.ts"
import { chunkLines } from "#knowledge/rules/chunk-markdown.ts"
import { statOf } from "#util/file/path-info.ts"
import { ownCommand } from "#util/own-command.ts"
import { createNearness } from "./nearness.ts"
import { createPassageStore, type NewFile, type NewPassage, type Stored } from "./passage-store.ts"
import { createPdfReader, hasPdf, type PdfReader, pdfPackage } from "./pdf-reader.ts"
import { type Content, isPdf, readContent, readPdf } from "./read-content.ts"
import { redactLines } from "./redact-lines.ts"
import type { Listing } from "./watch-listing.ts"

export type DocumentIndexConfig = {
  /** A real path. */
  folder: string
  /** The file of the index; default: in memory. */
  path?: string
  /** Without one, only words are searched. */
  embedder?: Embedder | undefined
  /** The documents, by their paths in the folder. */
  list(signal?: AbortSignal): Promise<Listing>
}
/** `path`: in the folder. `text` is empty if the file has none. */
export type Passage = Omit<Stored, "row"> & { score: number }
/** `problems`: one line for each document that was read and is not, or not wholly, indexed. */
export type Refreshed = { documents: number; changed: number; removed: number; problems: string[] }
export type DocumentIndex = ReturnType<typeof createDocumentIndex>

const maxChars = 1_000
/** Passages that are written at once. */
const maxBatch = 1_000
const maxProblems = 20

export function createDocumentIndex({ folder, path = inMemory, embedder, list }: DocumentIndexConfig) {
  const store = createPassageStore(path, embedder ? `${embedder.id}/${embedder.dimensions}` : "")
  const nearness = createNearness(store, embedder)
  let work: Promise<unknown> = Promise.resolve()

  /** Reads what has changed. Calls at the same time are done one after the other. */
  function refresh(signal?: AbortSignal): Promise<Refreshed> {
    const done = work.then(() => update(signal))
    work = done.catch(() => undefined)
    return done
  }

  async function update(signal: AbortSignal | undefined): Promise<Refreshed> {
    const { files, isCut } = await list(signal)
    const pdfs = files.filter(isPdf).length
    const readsPdf = pdfs > 0 && hasPdf()
    const known = store.stamps()
    const stamps = new Map(files.flatMap((file) => stampOf(file, readsPdf)))
    const changed = [...stamps].filter(([file, stamp]) => known.get(file) !== stamp)
    const gone = [...known.keys()].filter((file) => !stamps.has(file))
    store.remove(gone)
    const problems = isCut ? [`only ${files.length} documents are indexed`] : []
    if (pdfs && !readsPdf)
      problems.push(
        `${pdfs} PDF ${pdfs === 1 ? "file" : "files"}: ${pdfPackage.name} is not installed; ${ownCommand} doctor says how to get it`,
      )
    const reader = createPdfReader()
    try {
      await putAll(changed, { problems, reader, signal })
    } finally {
      reader.close()
    }
    if (changed.length || gone.length) nearness.reset()
    return { documents: stamps.size, changed: changed.length, removed: gone.length, problems }
  }

  function stampOf(file: string, readsPdf: boolean): [file: string, stamp: string][] {
    const stat = statOf(`${folder}/${file}`)
    // With another embedder all of it is read again, and PDF files as soon as they can be.
    const by = `${embedder?.id ?? ""}${readsPdf && isPdf(file) ? ":pdf" : ""}`
    return stat?.isFile() ? [[file, `${stat.mtimeMs}:${stat.size}:${by}`]] : []
  }

  async function putAll(
    changed: [file: string, stamp: string][],
    { problems, ...how }: { problems: string[]; reader: PdfReader; signal: AbortSignal | undefined },
  ): Promise<void> {
    let batch: Omit<NewFile, "parts">[] = []
    let size = 0
    for (const [file, stamp] of changed) {
      how.signal?.throwIfAborted()
      const { content, problem } = await contentOf(file, how)
      if (problem && problems.length < maxProblems) problems.push(`${file}: ${problem}`)
      const passages = passagesOf(file, content)
      batch.push({ path: file, stamp, passages })
      size += passages.length
      if (size < maxBatch) continue
      store.put(await nearness.withParts(batch))
      batch = []
      size = 0
      await setImmediate()
    }
    if (batch.length) store.put(await nearness.withParts(batch))
  }

  async function contentOf(
    file: string,
    how: Parameters<typeof readPdf>[2],
  ): Promise<{ content: Content; problem?: string | undefined }> {
    const path = join(folder, file)
    try {
      const content = isPdf(file) ? await readPdf(folder, path, how) : readContent(folder, path)
      if (!content) return { content: { pages: [] } }
      return { content, problem: content.problem }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      return { content: { pages: [] }, problem: String(error.data.reason) }
    }
  }

  /** The best first. Call `refresh` before. */
  async function search(query: string, limit: number): Promise<Passage[]> {
    const found = await nearness.search(query, limit)
    return found.flatMap(({ row, score }) => {
      const stored = store.get(row)
      if (!stored) return []
      const { row: _, ...passage } = stored
      return [{ ...passage, score }]
    })
  }

  async function close(): Promise<void> {
    await work
    store.close()
  }

  const counts = () => ({ documents: store.documents(), passages: store.size() })
  return Object.freeze({ refresh, search, counts, close })
}

/** A file without text has one passage, so that it is found by its name. */
function passagesOf(file: string, { title, pages }: Content): NewPassage[] {
  const stem = basename(file, extname(file))
  const folder = dirname(file) === "." ? "" : dirname(file)
  const more = clean(title ? `${stem} ${folder}` : folder)
  const passages = pages.flatMap(({ page, lines }) =>
    chunkLines(redactLines(lines), maxChars).map(({ heading, line, endLine, text }) => ({
      name: [clean(title ?? stem), heading.toWellFormed()].filter(Boolean).join(" > "),
      text: text.toWellFormed(),
      more,
      page,
      from: line,
      to: endLine,
    })),
  )
  if (passages.length) return passages
  return [{ name: clean(title ?? stem), text: "", more, page: 0, from: 0, to: 0 }]
}

function clean(text: string): string {
  return Secret.redact(text).toWellFormed()
}
