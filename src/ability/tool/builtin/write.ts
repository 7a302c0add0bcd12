// The `write` tool: creates a file, or replaces a file and keeps its encoding and line ends.
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { openInEditor } from "#ability/file/in-editor.ts"
import { changeLines, type LineDiff, lineDiff } from "#ability/file/line-diff.ts"
import { needsWriting, openForWriting, type Place } from "#ability/file/open-for-writing.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { decode, encode, formsOf, type TextFile, toText } from "#ability/file/text-file.ts"
import { descriptions } from "./descriptions.ts"

/** A larger file is replaced without reading it. */
const maxCompared = 20_000_000

const Parameters = z.strictObject({
  path: z.string().min(1),
  content: z
    .string()
    .refine((text) => text.isWellFormed(), "expected whole Unicode characters; it has half a surrogate pair"),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { path: "notes/plan.md", content: "# Plan\n" },
  arguments: {
    path: "File to make or replace; missing folders are made.",
    content: "The whole content.",
  },
  limits: "A file that somebody else changed since it was read is refused.",
}

export const write = {
  id: "write",
  routingName: "fs_write",
  description: descriptions.write,
  category: "file",
  parameters: Parameters,
  readOnly: false,
  permission: ({ path }: Args) => needsWriting("file.write", path),
  preview: ({ content }: Args) => changeLines("", content),
  contentAfter: ({ content }: Args, before) => encodeLike(before && textOf(before), content).bytes,
  execute,
} satisfies Definition

async function execute({ path, content }: Args, context: Context): Promise<Output> {
  using place = await openForWriting(path, context)
  await SeenFiles.load(context.sessionId)
  const inEditor = await openInEditor(place, context)
  context.signal.throwIfAborted()
  // On disk, there is no `await` from here to the end: no other call of ours may come between the check and the write.
  const old = oldContent(place, inEditor?.text, context)
  const text = old && textOf(old)
  const { bytes, notes } = encodeLike(text, content)
  const same = old?.equals(bytes) === true
  const saved = same || !inEditor ? undefined : await inEditor.save(bytes)
  const stat = saved?.stat ?? (same ? place.file!.stat : place.replace(bytes, old))
  if (saved?.note) notes.push(saved.note)
  const version = SeenFiles.note(context.sessionId, { path: place.real, id: SeenFiles.idOf(stat, bytes) })
  const change = { path, real: place.real, before: old, after: bytes, inEditor }
  const followed = same
    ? undefined
    : await (await import("#ability/lsp/after-change.ts")).afterChange(change, context)
  if (followed) notes.push(...followed.notes)
  const final = followed?.bytes ?? bytes
  const changes = compare(text, final, place.file !== undefined)
  const { additions, deletions } = changes ?? { additions: linesIn(content), deletions: 0 }
  const counts = changes ? ` (+${additions} -${deletions})` : ""
  const done = same ? " is already exactly this" : `${place.file ? " replaced" : " created"}${counts}`
  return {
    text: `${place.named}${done}, ${final.length} bytes.${notes.length ? ` [${notes.join("; ")}]` : ""}${followed?.text ?? ""}`,
    title: `${place.named}${counts}`,
    data: {
      path: place.shown,
      created: place.file === undefined,
      bytes: final.length,
      additions,
      deletions,
      ...(changes ? { diff: changes.diff } : {}),
      version: followed?.version ?? version,
    },
  }
}

/** The current content, unless it is too large to compare. Refuses a file that somebody else changed. */
function oldContent(
  { file, real, shown }: Place,
  text: Buffer | undefined,
  { sessionId }: Context,
): Buffer | undefined {
  if (!file) return undefined
  const old = text ?? (file.size > maxCompared ? undefined : file.read())
  SeenFiles.refuseChanged(sessionId, { path: real, shown, id: SeenFiles.idOf(file.stat, old) })
  return old
}

/** Undefined for binary files and for files that are too large. */
function textOf(bytes: Buffer): TextFile | undefined {
  return bytes.length > maxCompared ? undefined : decode(bytes)
}

function encodeLike(old: TextFile | undefined, content: string): { bytes: Buffer; notes: string[] } {
  if (!old || content.startsWith("\ufeff")) return { bytes: Buffer.from(content), notes: [] }
  const notes: string[] = []
  const crlf = old.raw.includes("\r\n") && !/(?<!\r)\n/.test(old.raw)
  const keepsEnds = crlf && content.includes("\n") && !content.includes("\r")
  if (keepsEnds) notes.push("lines end with CRLF, as before")
  if (old.encoding === "8-bit") notes.push("the file was not UTF-8 before, now it is")
  else if (old.bom.length) notes.push(`the file stays ${old.encoding.toUpperCase()} with a byte order mark`)
  const file = { ...old, encoding: old.encoding === "8-bit" ? ("utf8" as const) : old.encoding }
  const text = keepsEnds ? content.replaceAll("\n", "\r\n") : content
  return { bytes: encode({ ...file, raw: formsOf(file, text)[0]!, rest: Buffer.alloc(0) }), notes }
}

/** Undefined if there is too much text, or if one of the two is binary. */
function compare(old: TextFile | undefined, bytes: Buffer, existed: boolean): LineDiff | undefined {
  const now = bytes.length > maxCompared ? undefined : decode(bytes)
  if (!now || (existed && !old)) return undefined
  return lineDiff(old ? toText(old, old.raw) : "", toText(now, now.raw))
}

function linesIn(content: string): number {
  return content.split("\n").length - (content === "" || content.endsWith("\n") ? 1 : 0)
}
