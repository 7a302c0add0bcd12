// The `read` tool: numbered lines of a text file of any size; other files are described.
import { z } from "zod"
import { NamedError } from "#util/error.ts"
import { needsReading, openTarget, type Target } from "../open-target.ts"
import type { Context, Definition, Json, Output } from "../tool.ts"
import { descriptions } from "./descriptions.ts"
import { fileKind, type Kind } from "./file-kind.ts"
import { readWindow } from "./text-window.ts"

const maxLines = 2_000
/** Below what the gate lets through, so that the note on how to go on is never cut. */
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

class Unreadable extends NamedError {
  constructor(message: string, path: string) {
    super("Read.Unreadable", message, { path })
  }
}

export const read = {
  id: "read",
  description: descriptions.read,
  category: "file",
  parameters: Parameters,
  readOnly: true,
  permission: ({ path }: Args) => needsReading(path),
  execute,
} satisfies Definition

async function execute(args: Args, context: Context): Promise<Output> {
  await using target = await openTarget(args.path, context)
  if (target.isDirectory)
    throw new Unreadable(
      `${JSON.stringify(target.shown)} is a folder. Use ls to see what is in it.`,
      args.path,
    )
  const sample = Buffer.alloc(sampleBytes)
  const { bytesRead } = await target.handle.read(sample, 0, sampleBytes, 0)
  if (bytesRead === 0) return { text: "(empty file)", title: target.shown, data: { totalLines: 0 } }
  const kind = fileKind(sample.subarray(0, bytesRead))
  return kind.kind === "binary" ? describe(target, kind) : await readText({ target, kind, args, context })
}

function describe({ shown, size }: Target, kind: Kind & { kind: "binary" }): Output {
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
}): Promise<Output> {
  const { target, kind, args, context } = options
  const start = args.startLine ?? 1
  const wanted = args.endLine === undefined ? maxLines : args.endLine - start + 1
  const window = await readWindow({
    handle: target.handle,
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
