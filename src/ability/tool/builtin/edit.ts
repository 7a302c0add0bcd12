// The `edit` tool: replaces text in a file and leaves every other byte as it was.
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { applyEdits } from "#ability/file/apply-edits.ts"
import { openInEditor } from "#ability/file/in-editor.ts"
import { changeLines, lineDiff } from "#ability/file/line-diff.ts"
import { needsWriting, openForWriting, type Place } from "#ability/file/open-for-writing.ts"
import { openTarget } from "#ability/file/open-target.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { decode, encode, toText } from "#ability/file/text-file.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const maxBytes = 20_000_000

const Edit = z
  .strictObject({
    oldText: z
      .string()
      .refine((text) => text !== "", "expected some text; to make or replace a whole file, use write"),
    newText: z
      .string()
      .refine(
        (text) => text.isWellFormed(),
        "expected whole Unicode characters; it has half a surrogate pair",
      ),
    replaceAll: z.boolean().optional(),
  })
  .refine(
    ({ oldText, newText }) => oldText === "" || oldText !== newText,
    "expected newText to differ from oldText",
  )
const Parameters = z.strictObject({ path: z.string().min(1), edits: z.array(Edit).min(1) })
type Args = z.infer<typeof Parameters>

class NotEditable extends NamedError {
  constructor(message: string, path: string) {
    super("Edit.NotEditable", `${JSON.stringify(path)} ${message}`, { path })
  }
}

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { path: "src/port.ts", edits: [{ oldText: "3141", newText: "4000" }] },
  arguments: {
    path: "File to change.",
    edits: "Replacements, made in order, all or none.",
    "edits[].oldText": "Text as it is in the file; it must occur once.",
    "edits[].newText": "Text that takes its place.",
    "edits[].replaceAll": "Replace every occurrence.",
  },
  limits: `Files up to ${maxBytes / 1_000_000} MB. A file that somebody else changed since it was read is refused.`,
}

export const edit = {
  id: "edit",
  routingName: "fs_edit",
  description: descriptions.edit,
  category: "file",
  parameters: Parameters,
  readOnly: false,
  permission: ({ path }: Args) => needsWriting("file.edit", path),
  preview: ({ edits }: Args) => edits.map(({ oldText, newText }) => changeLines(oldText, newText)).join("\n"),
  contentAfter: ({ path, edits }: Args, before) => before && editText(before, edits, path).bytes,
  execute,
} satisfies Definition

async function execute({ path, edits }: Args, context: Context): Promise<Output> {
  using place = await openForWriting(path, context)
  if (!place.file) throw await missing(path, context)
  await SeenFiles.load(context.sessionId)
  const inEditor = await openInEditor(place, context)
  context.signal.throwIfAborted()
  // On disk, there is no `await` from here to the end: no other call of ours may come between the check and the write.
  const old = contentOf(place, inEditor?.text, context)
  const { before, after, places, bytes } = editText(old, edits, place.shown)
  const same = old.equals(bytes)
  const saved = same || !inEditor ? undefined : await inEditor.save(bytes)
  const stat = saved?.stat ?? (same ? place.file.stat : place.replace(bytes, old))
  const version = SeenFiles.note(context.sessionId, { path: place.real, id: SeenFiles.idOf(stat, bytes) })
  const change = { path, real: place.real, before: old, after: bytes, inEditor }
  const followed = same
    ? undefined
    : await (await import("#ability/lsp/after-change.ts")).afterChange(change, context)
  const final = (followed?.bytes !== bytes && followed && decode(followed.bytes)) || after
  const { additions, deletions, diff } = lineDiff(before.raw, final.raw, {
    show: (line) => toText(final, line),
  })
  const counts = `+${additions} -${deletions}`
  const where = places === edits.length ? "" : ` in ${places} places`
  const notes = [...(saved?.note ? [saved.note] : []), ...(followed?.notes ?? [])]
  return {
    text: `${place.named} edited${where} (${counts}).${notes.length ? ` [${notes.join("; ")}]` : ""}${followed?.text ?? ""}`,
    title: `${place.named} (${counts})`,
    data: {
      path: place.shown,
      edits: edits.length,
      places,
      bytes: (followed?.bytes ?? bytes).length,
      additions,
      deletions,
      diff,
      version: followed?.version ?? version,
    },
  }
}

function editText(old: Buffer, edits: Args["edits"], shown: string) {
  const before = decode(old)
  if (!before) throw new NotEditable("is not text and cannot be edited.", shown)
  const { file: after, places } = applyEdits(before, edits, shown)
  return { before, after, places, bytes: encode(after) }
}

function contentOf(place: Place, text: Buffer | undefined, { sessionId }: Context): Buffer {
  const { real, shown } = place
  const file = place.file!
  if (file.size > maxBytes)
    throw new NotEditable(
      `has ${file.size} bytes, and edit takes at most ${maxBytes}. Use bash, with sed for example.`,
      shown,
    )
  const bytes = text ?? file.read()
  SeenFiles.refuseChanged(sessionId, { path: real, shown, id: SeenFiles.idOf(file.stat, bytes) })
  return bytes
}

/** The same error as `read` gives, because it suggests similar names. */
async function missing(path: string, context: Context): Promise<unknown> {
  try {
    await using _ = await openTarget(path, context)
  } catch (error) {
    return error
  }
  return new NotEditable("was made at this moment; try again.", path)
}
