// The tools for folders of documents: `rag_add`, `rag_search`, `rag_list`, `rag_remove`. A folder is indexed once; each search
// first reads what has changed.
import { join, resolve } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { needsReading, openTarget, type Target } from "#ability/file/open-target.ts"
import { Instance } from "#kernel/instance.ts"
import type { Passage } from "#knowledge/documents/document-index.ts"
import { NamedError } from "#util/error.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import * as Notes from "./notes.ts"
import { openIndex } from "./open-index.ts"
import * as Sources from "./sources.ts"

type Found = { place: string; name: string; text: string; score: number }

const usualLimit = 5
const maxShown = 10
/** The list of folders outlasts the session. */
const needsKnowledge = { permission: "knowledge.write", target: "project" }
const Folder = z.strictObject({ folder: z.string().min(1) })
const Search = z.strictObject({
  query: z.string().min(1).max(2_000),
  folder: z.string().min(1).optional(),
  limit: z.int().min(1).max(20).optional(),
})
type Search = z.infer<typeof Search>

class NotAFolder extends NamedError {
  constructor(path: string) {
    super(
      "Documents.NotAFolder",
      `${JSON.stringify(path)} is not a folder. rag_add takes a folder of documents.`,
      { path },
    )
  }
}

class NotAdded extends NamedError {
  constructor(path: string, folders: string[]) {
    const known = folders.length ? `Added: ${folders.join(", ")}.` : "None is added yet; rag_add adds one."
    super("Documents.NotAdded", `${JSON.stringify(path)} is not among the folders of documents. ${known}`, {
      path,
    })
  }
}

export const ragAdd = {
  id: "rag_add",
  description:
    "Add a folder of documents (Markdown, text, HTML, PDF) to those that rag_search searches, and index it. It stays added in later sessions. Ignored files and files with secrets are left out.",
  category: "document",
  parameters: Folder,
  readOnly: false,
  onlyNamed: true,
  permission: ({ folder }: { folder: string }) => [...needsReading(folder), needsKnowledge],
  async execute({ folder }: { folder: string }, context: Context): Promise<Output> {
    using target = await openTarget(folder, context)
    if (!target.isDirectory) throw new NotAFolder(folder)
    const [, real] = target.places
    const index = await openIndex(real)
    const { documents, problems } = await index.refresh(context.signal)
    await Sources.add(real)
    const { passages } = index.counts()
    const left = problems.slice(0, maxShown).map((problem) => `\n- ${problem}`)
    const note = documents ? "" : " Ignored and hidden files are left out."
    return {
      text: `${target.shown} is added: ${documents} documents, ${passages} passages.${note}${left.length ? `\nNot or only partly indexed:${left.join("")}` : ""}`,
      title: `${target.shown} (${documents})`,
      data: { folder: real, documents, passages, problems },
    }
  },
} satisfies Definition

export const ragSearch = {
  id: "rag_search",
  description:
    "Search the added folders of documents and the recorded knowledge, by words and by meaning. Answers are passages with path, page and lines, the best first. Use words that the documents may use, synonyms too, and search again in other words if nothing fits. `folder` limits the search to one folder.",
  category: "search",
  parameters: Search,
  readOnly: true,
  onlyNamed: true,
  permission: ({ folder }: Search) => chosen(folder).flatMap((one) => needsReading(one)),
  execute: search,
} satisfies Definition

export const ragList = {
  id: "rag_list",
  description: "List the folders of documents that rag_search searches, and the recorded knowledge.",
  category: "document",
  parameters: z.strictObject({}),
  readOnly: true,
  onlyNamed: true,
  async execute(): Promise<Output> {
    const folders = Sources.list()
    const notes = Notes.list(Sources.knowledgeFolder())
    const lines = [
      ...folders.map((folder) => `${folder}${realOf(folder) ? "" : " (missing)"}`),
      ...notes.map(
        ({ name, date, source }) => `knowledge ${name} (${date}${source ? `, source: ${source}` : ""})`,
      ),
    ]
    return {
      text: lines.join("\n") || "No folder is added and no knowledge is recorded.",
      title: `${folders.length} folders, ${notes.length} facts`,
      data: { folders, knowledge: notes.map(({ name }) => name) },
    }
  },
} satisfies Definition

export const ragRemove = {
  id: "rag_remove",
  description: "Remove a folder of documents from those that rag_search searches. Its files stay.",
  category: "document",
  parameters: Folder,
  readOnly: false,
  onlyNamed: true,
  permission: () => [needsKnowledge],
  async execute({ folder }: { folder: string }): Promise<Output> {
    const path = pathOf(folder)
    if (!(await Sources.remove(path))) throw new NotAdded(folder, Sources.list())
    return { text: `${path} is no longer searched. Its files are unchanged.`, title: path }
  },
} satisfies Definition

async function search({ query, folder, limit = usualLimit }: Search, context: Context): Promise<Output> {
  const folders = chosen(folder)
  if (folder !== undefined && !Sources.list().includes(pathOf(folder)))
    throw new NotAdded(folder, Sources.list())
  const found: Found[] = []
  const missing: string[] = []
  for (const one of folders) {
    if (realOf(one) === undefined) missing.push(one)
    else found.push(...(await searchFolder(one, { query, limit, context })))
  }
  if (folder === undefined) found.push(...(await searchKnowledge(query, limit)))
  const best = found.sort((a, b) => b.score - a.score).slice(0, limit)
  const text = best.map(({ place, name, text: passage }) => `${place} (${name})\n${passage || "(no text)"}`)
  const note = missing.length ? `\n\n[missing: ${missing.join(", ")}]` : ""
  const nothing =
    folders.length || folder !== undefined
      ? "No passage fits."
      : "No folder of documents is added, and no recorded knowledge fits. rag_add adds a folder."
  return {
    text: (text.join("\n\n") || nothing) + note,
    title: `${query} (${best.length})`,
    data: { passages: best.map(({ place, name }) => ({ place, name })) },
  }
}

async function searchFolder(
  folder: string,
  { query, limit, context }: { query: string; limit: number; context: Context },
): Promise<Found[]> {
  using target = await openTarget(folder, context)
  const index = await openIndex(target.places[1])
  await index.refresh(context.signal)
  const mayShow = (path: string) => isReadable(join(target.places[1], path), context)
  // Some of the best may be denied.
  const passages = await index.search(query, 3 * limit)
  return passages
    .filter(({ path }) => mayShow(path))
    .slice(0, limit)
    .map((passage) => ({ ...passage, place: placeOf(target, passage) }))
}

/** A rule may be stricter for a file than for its folder; what was granted for this call includes everything below it. */
function isReadable(target: string, { judge, granted = [] }: Context): boolean {
  const action = judge?.({ permission: "file.read", target }) ?? "allow"
  return action === "allow" || (action === "ask" && granted.some((folder) => isInside(folder, target)))
}

/** `docs/guide.md:12-18`, or `book.pdf, page 3, lines 12-18`. */
function placeOf({ shown }: Target, { path, page, from, to }: Passage): string {
  const file = join(shown, path)
  if (to === 0) return file
  const lines = from === to ? `${from}` : `${from}-${to}`
  return page ? `${file}, page ${page}, ${from === to ? "line" : "lines"} ${lines}` : `${file}:${lines}`
}

async function searchKnowledge(query: string, limit: number): Promise<Found[]> {
  const notes = await Notes.search(Sources.knowledgeFolder(), query, limit)
  return notes.map(({ name, date, source, text, score }) => ({
    place: `knowledge ${name}`,
    name: [date, ...(source ? [`source: ${source}`] : [])].join(", "),
    text,
    score,
  }))
}

function chosen(folder: string | undefined): string[] {
  const all = Sources.list()
  return folder === undefined ? all : all.filter((one) => one === pathOf(folder))
}

function pathOf(folder: string): string {
  const path = resolve(Instance.directory, folder)
  return realOf(path) ?? path
}

export const ragManuals = {
  rag_add: {
    example: { folder: "docs" },
    arguments: { folder: "Folder of documents; outside the workspace vitamin asks." },
    limits:
      "Asked for once in a session. 20,000 documents of 4 MB (PDF: 64 MB, 2,000 pages). Links out of the folder are not followed.",
  },
  rag_search: {
    example: { query: "How are releases rolled back?" },
    arguments: {
      query: "The question, or words to look for.",
      folder: "One of the added folders; without it all of them and the recorded knowledge.",
      limit: `Passages to show; without it ${usualLimit}.`,
    },
    limits: "Files that a rule denies are left out.",
  },
  rag_list: { example: {}, arguments: {}, limits: "Only of this project." },
  rag_remove: {
    example: { folder: "docs" },
    arguments: { folder: "One of the added folders." },
    limits: "Asked for once in a session.",
  },
}
