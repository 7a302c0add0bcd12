// The tools of the chronicler: a memory that lasts across sessions, as Markdown files in a folder for the project and one for
// all projects (~/.local/share/vitamin/memory). Earlier sessions themselves are searched by `recall`.
import { join } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { refuseSecrets } from "#ability/documents/find-credential.ts"
import * as Notes from "#ability/documents/notes.ts"
import { needsWriting, openForWriting } from "#ability/file/open-for-writing.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"

type Entry = Notes.Note & { place: "project" | "everywhere" }

const kinds = ["fact", "decision", "preference"] as const
const usualLimit = 5
const maxShown = 2_000
const maxListed = 200

const Save = z.strictObject({
  text: z.string().min(1).max(20_000),
  name: z.string().min(1).max(100).optional(),
  kind: z.enum(kinds).optional(),
  everywhere: z.boolean().optional().describe("for all projects"),
})
const Find = z.strictObject({ query: z.string().min(1).max(2_000), limit: z.int().min(1).max(20).optional() })
const Forget = z.strictObject({ name: z.string().min(1), everywhere: z.boolean().optional() })
const Export = z.strictObject({ path: z.string().min(1) })
const Observe = z.strictObject({
  text: z.string().min(1).max(5_000),
  about: z.string().min(1).max(100).optional(),
})
const Conclude = z.strictObject({
  conclusion: z.string().min(1).max(20_000).optional(),
  from: z.array(z.string()).min(1).optional(),
})
type Conclude = z.infer<typeof Conclude>

const save = {
  ...common("memory_save", "data"),
  description:
    "Remember a fact, a decision or a preference across sessions, in a file that people can read and edit. `everywhere`: in all projects. Never a secret.",
  parameters: Save,
  readOnly: false,
  permission: ({ everywhere }: z.infer<typeof Save>) => needsMemory(everywhere),
  async execute({ text, name, kind = "fact", everywhere }: z.infer<typeof Save>, context: Context) {
    return added({ text, name, kind }, { context, everywhere })
  },
} satisfies Definition

const search = {
  ...common("memory_search", "search"),
  description:
    "Find what was remembered, by words and by meaning, the best first. Each entry has its name and date.",
  parameters: Find,
  readOnly: true,
  async execute({ query, limit = usualLimit }: z.infer<typeof Find>): Promise<Output> {
    const found: (Entry & { score: number })[] = []
    for (const place of ["project", "everywhere"] as const)
      for (const note of await Notes.search(folderOf(place === "everywhere"), query, limit))
        found.push({ ...note, place })
    const best = found.sort((a, b) => b.score - a.score).slice(0, limit)
    return {
      text:
        best.map((entry) => `${headOf(entry)}\n${shorten(entry.text)}`).join("\n\n") ||
        "Nothing is remembered about that.",
      title: `${query} (${best.length})`,
      data: { entries: best.map(({ name, date, kind }) => ({ name, date, kind })) },
    }
  },
} satisfies Definition

const list = {
  ...common("memory_list", "data"),
  description: "List everything that is remembered: name, kind, date and first line of each entry.",
  parameters: z.strictObject({}),
  readOnly: true,
  async execute(): Promise<Output> {
    const entries = all()
    const lines = entries.slice(-maxListed).map((entry) => `${headOf(entry)}: ${firstLine(entry.text)}`)
    const more = entries.length > maxListed ? [`[the newest ${maxListed} of ${entries.length}]`] : []
    return {
      text: [...lines, ...more].join("\n") || "Nothing is remembered yet.",
      title: `${entries.length} entries`,
      data: { entries: entries.length, folders: [folderOf(false), folderOf(true)] },
    }
  },
} satisfies Definition

const forget = {
  ...common("memory_forget", "data"),
  description: "Forget an entry for good, by its name. `everywhere`: one that is for all projects.",
  parameters: Forget,
  readOnly: false,
  permission: ({ everywhere }: z.infer<typeof Forget>) => needsMemory(everywhere),
  async execute({ name, everywhere }: z.infer<typeof Forget>): Promise<Output> {
    await Notes.remove(folderOf(everywhere), name)
    return { text: `${name} is forgotten.`, title: name }
  },
} satisfies Definition

const exportAll = {
  ...common("memory_export", "file"),
  description: "Write everything that is remembered into one Markdown file.",
  parameters: Export,
  readOnly: false,
  permission: ({ path }: z.infer<typeof Export>) => needsWriting("file.write", path),
  async execute({ path }: z.infer<typeof Export>, context: Context): Promise<Output> {
    const entries = all()
    const parts = entries.map((entry) => `## ${headOf(entry)}\n\n${entry.text}`)
    using place = await openForWriting(path, context)
    place.replace(Buffer.from(`# Memory\n\n${parts.join("\n\n")}\n`), place.file?.read())
    return {
      text: `${entries.length} entries are in ${place.named}.`,
      title: place.named,
      data: { entries: entries.length },
    }
  },
} satisfies Definition

const observe = {
  ...common("observe_note", "data"),
  description:
    "Record an observation while work goes on: what happened, not what it means. `about` names its topic. reflect_summarize draws conclusions from observations.",
  parameters: Observe,
  readOnly: false,
  permission: () => needsMemory(false),
  async execute({ text, about }: z.infer<typeof Observe>, context: Context) {
    return added({ text, name: about, kind: "observation" }, { context })
  },
} satisfies Definition

const reflect = {
  ...common("reflect_summarize", "data"),
  description:
    "Without `conclusion`: show the observations that no conclusion covers yet. With it: record the conclusion that follows `from` these observations (default: all open ones), which then count as covered.",
  parameters: Conclude,
  readOnly: false,
  permission: ({ conclusion }: Conclude) => (conclusion === undefined ? [] : needsMemory(false)),
  async execute({ conclusion, from }: Conclude, context: Context): Promise<Output> {
    const folder = folderOf(false)
    const open = Notes.list(folder).filter(({ kind, concluded }) => kind === "observation" && !concluded)
    if (conclusion === undefined) {
      const lines = open.map((note) => `${note.name} (${note.date}): ${shorten(note.text)}`)
      return {
        text: lines.join("\n") || "There are no open observations.",
        title: `${open.length} observations`,
      }
    }
    const covered = from ?? open.map(({ name }) => name)
    Notes.checkConclude(folder, covered)
    const source = covered.join(", ")
    const output = added(
      { text: conclusion, name: undefined, kind: "conclusion", ...(source ? { source } : {}) },
      { context },
    )
    const by = (output.data as { name: string }).name
    for (const name of covered) await Notes.conclude(folder, { name, by })
    return output
  },
} satisfies Definition

export const memoryTools: readonly Definition[] = [save, search, list, forget, exportAll, observe, reflect]

/** For docs/tools.md; models are not sent it. */
export const memoryManuals = {
  memory_save: {
    example: { text: "Releases leave on Tuesdays.", kind: "decision" },
    arguments: {
      text: "What to remember.",
      name: "Name of the entry; without it the first words.",
      kind: "What it is; without it a fact.",
      everywhere: "Remember it in all projects.",
    },
    limits: "Asked for once in a session. A text with a secret is refused.",
  },
  memory_search: {
    example: { query: "when do we release?" },
    arguments: {
      query: "The question, or words to look for.",
      limit: `Entries to show; without it ${usualLimit}.`,
    },
    limits: "Of this project and of all projects.",
  },
  memory_list: { example: {}, arguments: {}, limits: `The newest ${maxListed} entries.` },
  memory_forget: {
    example: { name: "releases-leave-on-tuesdays" },
    arguments: { name: "Name of the entry.", everywhere: "The entry is for all projects." },
    limits: "Asked for once in a session.",
  },
  memory_export: {
    example: { path: "memory.md" },
    arguments: { path: "File to make or replace." },
    limits: "An existing file is replaced.",
  },
  observe_note: {
    example: { text: "The build took nine minutes.", about: "build time" },
    arguments: { text: "What happened.", about: "Topic; it becomes the name of the entry." },
    limits: "Asked for once in a session. A text with a secret is refused.",
  },
  reflect_summarize: {
    example: { conclusion: "Builds are slow after dependency updates." },
    arguments: {
      conclusion: "What follows from the observations.",
      from: "Names of the observations; without it all open ones.",
    },
    limits: "Asked for once in a session. A text with a secret is refused.",
  },
}

function common<T extends Definition["category"]>(id: string, category: T) {
  return { id, category, onlyNamed: true as const }
}

function added(
  note: { text: string; name: string | undefined; kind: string; source?: string },
  { context, everywhere }: { context: Context; everywhere?: boolean | undefined },
): Output {
  refuseSecrets(note.text, note.name)
  const { name, date } = Notes.add(folderOf(everywhere), { ...note, session: context.sessionId })
  return { text: `Recorded as ${name} (${note.kind}, ${date}).`, title: name, data: { name, date } }
}

function folderOf(everywhere: boolean | undefined): string {
  refuseInGuest("The memory of earlier sessions")
  return join(Global.data(), "memory", everywhere ? "everywhere" : Instance.project.id)
}

function needsMemory(everywhere: boolean | undefined) {
  return [{ permission: "memory.write", target: everywhere ? "everywhere" : "project" }]
}

function all(): Entry[] {
  const project = Notes.list(folderOf(false)).map((note) => ({ ...note, place: "project" as const }))
  return [
    ...project,
    ...Notes.list(folderOf(true)).map((note) => ({ ...note, place: "everywhere" as const })),
  ]
}

function headOf({ name, kind, date, place }: Entry): string {
  return `${name} (${kind}, ${date}${place === "everywhere" ? ", all projects" : ""})`
}

function firstLine(text: string): string {
  const [line = ""] = text.split("\n")
  return line.length > 120 ? `${line.slice(0, 120).toWellFormed()}…` : line
}

function shorten(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text
}
