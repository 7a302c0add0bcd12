// The work of the tool `rename`. The server says what would change. Every place must have the old name, and every file must be
// one that the call has permission for; otherwise nothing changes.
import { relative, resolve } from "node:path"
import type { Context, Output } from "#ability/call/types.ts"
import { openInEditor } from "#ability/file/in-editor.ts"
import { lineDiff } from "#ability/file/line-diff.ts"
import { openForWriting } from "#ability/file/open-for-writing.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { positionParams, type Server, toPath } from "#ability/lsp/server/create-server.ts"
import { linesOf, type Range, readRange, toIndex } from "#ability/lsp/server/positions.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { runFormatter } from "./after-change.ts"
import { findSymbol } from "./find-symbol.ts"
import type { Rename } from "./lsp-tools.ts"
import { withServer } from "./symbol-tools.ts"

type Edit = { range: Range; newText: string }
type Planned = { path: string; before: string; after: string; places: number }

const maxFiles = 500

class Refused extends NamedError {
  constructor(reason: string) {
    super("Lsp.RenameRefused", `Nothing was renamed: ${reason}`)
  }
}

export async function rename(args: Rename, context: Context): Promise<Output> {
  const planned = await withServer(args.path, context, ({ server, checker }, { real, text }) =>
    checker.ask(async () => {
      if (text !== undefined) server.documents.set(real, text)
      const { position, name } = findSymbol(server, { ...args, real })
      const params = { ...positionParams(real, position), newName: args.newName }
      const edits = readWorkspaceEdit(await server.request("textDocument/rename", params))
      return [...edits].map(([path, list]) => plan(server, { path, list, name, newName: args.newName }))
    }),
  )
  if (!planned.length) throw new Refused("the language server found nothing to rename there")
  const named = new Set([args.path, ...(args.files ?? [])].map((path) => resolve(Instance.directory, path)))
  const places = planned.reduce((sum, one) => sum + one.places, 0)
  const shown = planned.map(({ path }) => relative(Instance.directory, path))
  if (planned.some(({ path }) => !named.has(path)))
    return {
      text: `Renaming ${args.symbol} changes ${places} places in ${planned.length} files. Nothing is changed yet: call rename again with files: ${JSON.stringify(shown)}`,
      title: `${args.symbol} (${planned.length} files, not renamed)`,
    }
  const diffs = await writeAll(planned, context)
  return {
    text: `${args.symbol} renamed to ${args.newName}: ${places} places in ${shown.join(", ")}.`,
    title: `${args.symbol} → ${args.newName} (${places})`,
    data: { places, files: shown, diff: diffs.join("") },
  }
}

/** The edits of each file. Anything but edits of text is refused. */
function readWorkspaceEdit(answer: unknown): Map<string, Edit[]> {
  const { changes, documentChanges } = (answer ?? {}) as { changes?: unknown; documentChanges?: unknown }
  const listed = Array.isArray(documentChanges)
    ? documentChanges.map((one): [unknown, unknown] => {
        if (!one?.textDocument) throw new Refused("the language server wants to create, move or remove files")
        return [one.textDocument.uri, one.edits]
      })
    : Object.entries(changes ?? {})
  const edits = new Map<string, Edit[]>()
  for (const [uri, list] of listed) {
    const path = toPath(uri)
    if (path === undefined || !isInside(Instance.worktree, path))
      throw new Refused(
        `the language server wants to change ${JSON.stringify(uri)}, outside of the work tree`,
      )
    edits.set(path, [...(edits.get(path) ?? []), ...readEdits(list)])
  }
  if (edits.size > maxFiles) throw new Refused(`it would change more than ${maxFiles} files`)
  return new Map([...edits].filter(([, list]) => list.length))
}

function readEdits(list: unknown): Edit[] {
  return (Array.isArray(list) ? list : []).map((one): Edit => {
    const range = readRange(one?.range)
    if (!range || typeof one.newText !== "string")
      throw new Refused("the language server sent an edit without a place")
    return { range, newText: one.newText }
  })
}

/** Every edit must replace the old name, and bring the new one: servers may be wrong about positions. */
function plan(
  { documents, encoding }: Server,
  { path, list, name, newName }: { path: string; list: Edit[]; name: string; newName: string },
): Planned {
  const shown = relative(Instance.directory, path)
  const before = documents.open(path) ? documents.text(path) : undefined
  if (before === undefined) throw new Refused(`${shown} cannot be read, or is too large`)
  const lines = linesOf(before)
  const edits = list
    .map(({ range, newText }) => ({
      start: toIndex(lines, range.start, encoding),
      end: toIndex(lines, range.end, encoding),
      newText,
    }))
    .sort((a, b) => a.start - b.start)
  let after = ""
  let at = 0
  for (const { start, end, newText } of edits) {
    if (start < at || before.slice(start, end) !== name || !newText.includes(newName))
      throw new Refused(`the language server named a place in ${shown} that is not ${JSON.stringify(name)}`)
    after += before.slice(at, start) + newText
    at = end
  }
  return { path, before, after: after + before.slice(at), places: edits.length }
}

/** All or none: if one file cannot be written, those before it are written back. */
async function writeAll(planned: readonly Planned[], context: Context): Promise<string[]> {
  const done: Planned[] = []
  try {
    for (const one of planned) {
      await write(one, context)
      done.push(one)
    }
  } catch (error) {
    for (const { path, before, after, places } of done)
      await write({ path, before: after, after: before, places }, context)
    throw error
  }
  const diffs: string[] = []
  for (const { path, before, after } of planned) {
    const change = { path, real: path, before: Buffer.from(before), after: Buffer.from(after) }
    const { bytes } = await runFormatter({ ...change, inEditor: undefined }, context)
    diffs.push(`--- ${relative(Instance.directory, path)}\n${lineDiff(before, bytes.toString("utf8")).diff}`)
  }
  return diffs
}

async function write({ path, before, after }: Planned, context: Context): Promise<void> {
  using place = await openForWriting(path, context)
  await SeenFiles.load(context.sessionId)
  const inEditor = await openInEditor(place, context)
  const old = inEditor?.text ?? place.file?.read()
  if (!old || withoutMark(old.toString("utf8")) !== before)
    throw new Refused(`${place.shown} was changed meanwhile, or is not UTF-8`)
  const mark = old.length - Buffer.byteLength(before)
  const bytes = Buffer.concat([old.subarray(0, mark), Buffer.from(after)])
  const stat = (await inEditor?.save(bytes))?.stat ?? place.replace(bytes, old)
  SeenFiles.note(context.sessionId, { path: place.real, id: SeenFiles.idOf(stat, bytes) })
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "")
}
