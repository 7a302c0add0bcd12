// What follows a change of a file by a tool: the formatter runs, and language servers say what the change broke. Their code is
// loaded for files of a language only.
import { extname } from "node:path"
import type { Context } from "#ability/call/types.ts"
import type { InEditor } from "#ability/file/in-editor.ts"
import { openForWriting } from "#ability/file/open-for-writing.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { decode, toText } from "#ability/file/text-file.ts"
import * as Config from "#kernel/config/config.ts"

type Change = {
  /** As the call names it, and the real path. */
  path: string
  real: string
  before: Buffer | undefined
  after: Buffer
  inEditor: InEditor | undefined
}
/** `bytes`: the final content. `notes` go into the line about the change, `text` behind it. */
export type Followed = { bytes: Buffer; version?: SeenFiles.Version; notes: string[]; text: string }

/** Endings of the languages that have a known server or formatter. */
const known = new Set(
  [
    ...["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "json", "jsonc", "json5", "css", "scss"],
    ...[
      "less",
      "html",
      "md",
      "mdx",
      "yaml",
      "yml",
      "graphql",
      "py",
      "pyi",
      "go",
      "rs",
      "c",
      "h",
      "cc",
      "cpp",
    ],
    ...["cxx", "hh", "hpp", "hxx", "sh", "bash"],
  ].map((name) => `.${name}`),
)

export async function afterChange(change: Change, context: Context): Promise<Followed> {
  const { lsp, formatter } = await Config.get()
  const isConfigured = Boolean(lsp || formatter)
  if (!isConfigured && !known.has(extname(change.real).toLowerCase()))
    return { bytes: change.after, notes: [], text: "" }
  const formatted = await runFormatter(change, context)
  const text = lsp === false ? "" : await diagnose({ ...change, after: formatted.bytes }, context)
  return { ...formatted, text: text && `\n${text}` }
}

/** Formats a file that was changed, if it has a formatter. */
export async function runFormatter(change: Change, context: Context): Promise<Omit<Followed, "text">> {
  const { format } = await import("#ability/format/format.ts")
  const result = await format(change.real, context)
  if (!result) return { bytes: change.after, notes: [] }
  const { bytes, version } = await takeResult(change, context, result.failure !== undefined)
  if (result.failure !== undefined) return { bytes, ...version, notes: [result.failure] }
  return { bytes, ...version, notes: bytes.equals(change.after) ? [] : ["formatted"] }
}

/** The file as the formatter left it. What a failing one wrote is taken back. */
async function takeResult(change: Change, context: Context, hasFailed: boolean) {
  const { path, after, inEditor } = change
  using place = await openForWriting(path, context)
  const now = place.file?.read()
  if (now?.equals(after)) return { bytes: after }
  const bytes = hasFailed || !now ? after : now
  let stat = hasFailed || !now ? place.replace(bytes, now) : place.file!.stat
  // The editor must know the text, or its next save would undo the formatting.
  if (inEditor && !hasFailed) stat = ((await inEditor.save(bytes)).stat as typeof stat | undefined) ?? stat
  const id = SeenFiles.idOf(stat, bytes)
  return { bytes, version: { version: SeenFiles.note(context.sessionId, { path: place.real, id }) } }
}

async function diagnose(change: Change, context: Context): Promise<string> {
  const before = change.before && textOf(change.before)
  const after = textOf(change.after)
  if (after === undefined || (change.before && before === undefined)) return ""
  const { diagnose } = await import("./lsp.ts")
  return diagnose({ path: change.real, before, after }, context)
}

/** Undefined if it is not text in UTF-8 or UTF-16. */
function textOf(bytes: Buffer): string | undefined {
  const file = decode(bytes)
  return file && file.encoding !== "8-bit" ? toText(file, file.raw) : undefined
}
