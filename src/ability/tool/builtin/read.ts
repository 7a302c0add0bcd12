// The `read` tool: numbered lines of a text file of any size; other files are described.
import { readSync } from "node:fs"
import { z } from "zod"
import type { Context, Definition, Json, Output } from "#ability/call/types.ts"
import { needsReading, openTarget, type Target } from "#ability/file/open-target.ts"
import * as SeenFiles from "#ability/file/seen-files.ts"
import { fileKind, type Kind } from "#ability/file/text-file.ts"
import { readWindow } from "#ability/file/text-window.ts"
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
  const version = SeenFiles.see(context.sessionId, { fd: target.handle.fd, path: target.path })
  const { data, ...output } = await show({ target, args, context })
  return { ...output, data: { ...data, version } }
}

async function show(options: { target: Target; args: Args; context: Context }): Promise<Shown> {
  const { target, args, context } = options
  // Some files report size 0 although they have content, such as those of the kernel.
  const sample = Buffer.allocUnsafe(Math.min(sampleBytes, target.size || sampleBytes))
  const bytesRead = readSync(target.handle.fd, sample, 0, sample.length, 0)
  if (bytesRead === 0) return { text: "(empty file)", title: target.shown, data: { totalLines: 0 } }
  const kind = fileKind(sample.subarray(0, bytesRead))
  return kind.kind === "binary" ? describe(target, kind) : await readText({ target, kind, args, context })
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

async function readText(options: {
  target: Target
  kind: Kind & { kind: "text" }
  args: Args
  context: Context
}): Promise<Shown> {
  const { target, kind, args, context } = options
  const start = args.startLine ?? 1
  const wanted = args.endLine === undefined ? maxLines : args.endLine - start + 1
  const window = await readWindow({
    fd: target.handle.fd,
    size: target.size,
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
    ...(last !== total && last !== args.endLine ? [rest(last, total, target.size)] : []),
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
