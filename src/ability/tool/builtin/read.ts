// The `read` tool: numbered lines of a text file of any size; other files are described.
import { fstatSync } from "node:fs"
import { z } from "zod"
import type { Context, Definition, Json, Output } from "#ability/call/types.ts"
import { readInEditor } from "#ability/file/in-editor.ts"
import { needsReading, openTarget, type Target } from "#ability/file/open-target.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { fileKind, type Kind } from "#ability/file/text-file.ts"
import { readChunk, readWindow } from "#ability/file/text-window.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const maxLines = 2_000
/** Below the limit of the gate, so that the note on how to continue is never cut. */
const maxBytes = 48_000
const sampleBytes = 8_192

const Parameters = z
  .strictObject({
    path: z.string().min(1),
    startLine: z.int().min(1).optional(),
    endLine: z.int().min(1).optional(),
  })
  .refine(({ startLine, endLine }) => (startLine ?? 1) <= (endLine ?? Number.POSITIVE_INFINITY), {
    path: ["endLine"],
    message: "expected endLine to be at least startLine",
  })
type Args = z.infer<typeof Parameters>
type Shown = { text: string; title: string; data: { [name: string]: Json } }

class Unreadable extends NamedError {
  constructor(message: string, path: string) {
    super("Read.Unreadable", message, { path })
  }
}

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { path: "src/index.ts", startLine: 1, endLine: 40 },
  arguments: {
    path: "File, from the working folder or absolute.",
    startLine: "First line, from 1.",
    endLine: "Last line, included.",
  },
  limits: `${maxLines} lines or ${maxBytes} bytes a call; the answer says how to go on.`,
}

export const read = {
  id: "read",
  routingName: "fs_read",
  description: descriptions.read,
  category: "file",
  parameters: Parameters,
  readOnly: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute(args: Args, context: Context): Promise<Output> {
  using target = await openTarget(args.path, context)
  if (target.isDirectory)
    throw new Unreadable(
      `${JSON.stringify(target.shown)} is a folder. Use ls to see what is in it.`,
      args.path,
    )
  const inEditor = await readInEditor(target, context)
  const version = noteVersion(target, inEditor, context)
  const { handle, size } = target
  const content = { from: inEditor ?? handle.fd, size: inEditor?.length ?? size }
  const { data, ...output } = await show({ target, content, args, context })
  return { ...output, data: { ...data, version } }
}

function noteVersion(
  { handle, path, places: [, real] }: Target,
  text: Buffer | undefined,
  { sessionId }: Context,
) {
  if (!text) return SeenFiles.see(sessionId, { fd: handle.fd, path })
  return SeenFiles.note(sessionId, {
    path: real,
    id: SeenFiles.idOf(fstatSync(handle.fd, { bigint: true }), text),
  })
}

/** The bytes that are shown: those of the open file, or the editor's. */
type Content = { from: number | Buffer; size: number }
type Showing = { target: Target; content: Content; args: Args; context: Context }

async function show(showing: Showing): Promise<Shown> {
  const { target, content } = showing
  // Some files report size 0 although they have content, such as those of the kernel.
  const sample = Buffer.allocUnsafe(Math.min(sampleBytes, content.size || sampleBytes))
  const bytesRead = await readChunk(content.from, sample, 0)
  if (bytesRead === 0) return { text: "(empty file)", title: target.shown, data: { totalLines: 0 } }
  const kind = fileKind(sample.subarray(0, bytesRead))
  return kind.kind === "binary" ? describe(target, kind) : await readText({ ...showing, kind })
}

function describe({ shown, size }: Target, kind: Kind & { kind: "binary" }): Shown {
  const { name, mimeType, width, height } = kind
  const data: Record<string, Json> = { mimeType, bytes: size }
  if (width && height) Object.assign(data, { width, height })
  const pixels = width ? `, ${width} × ${height} pixels` : ""
  return {
    text: `${shown} is not text: ${name}${pixels}, ${size} bytes. Its content is not shown.`,
    title: `${shown} (${name})`,
    data,
  }
}

async function readText(showing: Showing & { kind: Kind & { kind: "text" } }): Promise<Shown> {
  const { target, content, kind, args, context } = showing
  const start = args.startLine ?? 1
  const wanted = args.endLine === undefined ? maxLines : args.endLine - start + 1
  const window = await readWindow({
    ...content,
    encoding: kind.encoding,
    skip: kind.skip,
    start,
    maxLines: wanted,
    maxBytes,
    signal: context.signal,
  })
  const { lines, total, crlf } = window
  if (lines.length === 0)
    throw new Unreadable(
      `${JSON.stringify(target.shown)} has ${total} lines; startLine ${start} is after its end.`,
      args.path,
    )
  const last = start + lines.length - 1
  const notes = [
    ...(last !== total && last !== args.endLine ? [rest(last, total, content.size)] : []),
    ...(crlf ? ["lines end with CRLF"] : []),
    ...(kind.encoding === "utf8" ? [] : [`the file is ${kind.encoding.toUpperCase()}`]),
  ]
  return {
    text: lines.join("\n") + (notes.length ? `\n[${notes.join("; ")}]` : ""),
    title: `${target.shown}:${start}-${last}`,
    data: {
      path: target.shown,
      startLine: start,
      endLine: last,
      ...(total === undefined ? {} : { totalLines: total }),
    },
  }
}

function rest(last: number, total: number | undefined, size: number): string {
  return `${total === undefined ? `a file of ${size} bytes` : `${total} lines in all`}; go on with startLine ${last + 1}`
}
