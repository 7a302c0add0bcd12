// Files that the person's editor may have open with changes that are not saved. A call reads the editor's text and lets
// the editor write, so that neither side overwrites the other. Editors exchange text only: other files, files in other
// encodings, large files and files that the editor does not have are read and written on disk.
import { type BigIntStats, readFileSync, readSync, statSync } from "node:fs"
import type { Context, Step } from "#ability/call/types.ts"
import { errorText, NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import type { Place } from "./open-for-writing.ts"
import type { Target } from "./open-target.ts"
import { maxHashed } from "./seen-files.ts"
import { decode } from "./text-file.ts"

type Saved = { stat: Pick<BigIntStats, "size" | "mtimeNs" | "ino">; note?: string }
export type InEditor = {
  /** The editor's text; undefined if the bytes on disk are meant. */
  text?: Buffer
  save(bytes: Buffer): Promise<Saved>
}

/** Larger files are not asked for: their versions are not known by content. */
const maxBytes = maxHashed

class Unsaved extends NamedError {
  constructor(path: string) {
    super(
      "Tool.Unsaved",
      `${JSON.stringify(path)} has changes in the person's editor that are not saved, and the editor cannot be written to. Ask the person to save it.`,
      { path },
    )
  }
}

/** The text of a file that a call reads, if the editor has it. */
export async function readInEditor(
  { handle, places: [named], size }: Target,
  { editor, signal }: Context,
): Promise<Buffer | undefined> {
  if (!editor?.readText || size > maxBytes) return undefined
  const bytes = Buffer.allocUnsafe(size)
  return isPlain(bytes.subarray(0, readSync(handle.fd, bytes, 0, size, 0)))
    ? textOf(await editor.readText(named, signal))
    : undefined
}

/** The file of a call that writes it. Undefined if it is written on disk. */
export async function openInEditor(place: Place, context: Context): Promise<InEditor | undefined> {
  const { editor, signal } = context
  const { file, path, shown } = place
  if (!editor || (file && (file.size > maxBytes || !isPlain(file.read())))) return undefined
  const text = file && textOf(await editor.readText?.(path, signal))
  if (!editor.writeText) {
    if (text && !isSameText(text, file.read())) throw new Unsaved(shown)
    return undefined
  }
  // An editor that can give texts and does not have this one has no unsaved changes of it.
  if (file && !text && editor.readText) return undefined
  const save = (bytes: Buffer) => saveInEditor({ place, bytes, context })
  return { ...(text ? { text } : {}), save }
}

/** Saves what the person has not saved in a file that a call is about to change. The snapshot of the call then has it, so
 * that an undo takes back the change of the call only. */
export async function saveUnsaved({ tool, args, context }: Step, path: string): Promise<void> {
  const { editor, signal } = context
  const stat = statOf(path)
  if (!editor?.readText || !editor.writeText || !stat?.isFile() || stat.size > maxBytes) return
  const onDisk = readFileSync(path)
  const text = isPlain(onDisk) ? textOf(await editor.readText(path, signal)) : undefined
  if (!text || isSameText(text, onDisk) || !wouldChange({ tool, args }, text)) return
  await editor.writeText(path, text.toString("utf8"), signal)
}

/** False if the call will fail: then nothing must be saved for it. */
function wouldChange({ tool, args }: Pick<Step, "tool" | "args">, text: Buffer): boolean {
  try {
    return tool.contentAfter?.(args, text) !== undefined
  } catch {
    return false
  }
}

async function saveInEditor(saving: { place: Place; bytes: Buffer; context: Context }): Promise<Saved> {
  const { place, bytes, context } = saving
  const { editor, signal } = context
  const { file, path, real, shown } = place
  try {
    await editor!.writeText!(path, bytes.toString("utf8"), signal)
  } catch (error) {
    signal.throwIfAborted()
    // A new file may be outside of the folders that the editor knows.
    if (!file) return { stat: place.replace(bytes) }
    throw new NamedError(
      "Tool.WriteFailed",
      `${JSON.stringify(shown)} cannot be written: the editor refused it: ${errorText(error)}`,
      { path: shown },
    )
  }
  const stat = statSync(real, { bigint: true, throwIfNoEntry: false })
  const isSaved = stat?.size === BigInt(bytes.length) && readFileSync(real).equals(bytes)
  const unknown = { size: BigInt(bytes.length), mtimeNs: 0n, ino: 0n }
  return {
    stat: stat ?? unknown,
    ...(isSaved ? {} : { note: "the editor has not saved it like this: the file on disk differs" }),
  }
}

function textOf(text: string | undefined): Buffer | undefined {
  const bytes = text === undefined ? undefined : Buffer.from(text)
  return bytes && bytes.length <= maxBytes ? bytes : undefined
}

/** Text in UTF-8 without a byte order mark, which is what editors and disk have in common. */
function isPlain(bytes: Buffer): boolean {
  if (bytes.length === 0) return true
  const file = decode(bytes)
  return file?.encoding === "utf8" && file.bom.length === 0
}

/** Some editors give every line end as LF. */
function isSameText(one: Buffer, other: Buffer): boolean {
  const linesOf = (bytes: Buffer) => bytes.toString("utf8").replaceAll("\r\n", "\n")
  return one.equals(other) || linesOf(one) === linesOf(other)
}
