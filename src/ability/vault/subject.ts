// What a crypto tool works on: a short text or a file. A file goes through the same checks as for `read` and `write`.
import { createReadStream, readFileSync } from "node:fs"
import { z } from "zod"
import type { Context, Need } from "#ability/call/types.ts"
import { needsWriting, openForWriting } from "#ability/file/open-for-writing.ts"
import { needsReading, openTarget } from "#ability/file/open-target.ts"
import { NamedError } from "#util/error.ts"

/** Whole files are encrypted and signed in memory: nothing is written before it is authenticated. */
const maxBytes = 100_000_000

export const subject = { text: z.string().max(100_000).optional(), path: z.string().min(1).optional() }
export type Subject = { text?: string | undefined; path?: string | undefined }

export const subjectManual = { text: "Text, instead of a file.", path: "File, instead of a text." }

export class Unusable extends NamedError {
  constructor(message: string) {
    super("Crypto.Unusable", message)
  }
}

export function isOne({ text, path }: Subject): boolean {
  return (text === undefined) !== (path === undefined)
}

export const oneMessage = "give either text or path"

export function needsOf({ path }: Subject): Need[] {
  return path === undefined ? [] : needsReading(path)
}

export async function readSubject({ text, path }: Subject, context: Context): Promise<Buffer> {
  if (path === undefined) return Buffer.from(text!)
  using target = await openFile(path, context)
  if (target.size > maxBytes)
    throw new Unusable(
      `${JSON.stringify(target.shown)} has ${target.size} bytes; at most ${maxBytes} are possible.`,
    )
  return readFileSync(target.handle.fd)
}

/** The bytes in chunks, for work that does not need them all at once. */
export async function* streamSubject({ text, path }: Subject, context: Context): AsyncGenerator<Buffer> {
  if (path === undefined) return yield Buffer.from(text!)
  using target = await openFile(path, context)
  yield* createReadStream("", { fd: target.handle.fd, autoClose: false, start: 0, signal: context.signal })
}

export function needsResult(to: string): Need[] {
  return needsWriting("file.write", to)
}

/** Writes a new file. An existing one is never overwritten. */
export async function writeResult(to: string, bytes: Buffer, context: Context): Promise<string> {
  using place = await openForWriting(to, context)
  if (place.file)
    throw new Unusable(`${JSON.stringify(place.shown)} exists already. Name another file in \`to\`.`)
  place.replace(bytes)
  return place.shown
}

async function openFile(path: string, context: Context) {
  const target = await openTarget(path, context)
  if (!target.isDirectory) return target
  target[Symbol.dispose]()
  throw new Unusable(`${JSON.stringify(target.shown)} is a folder; name a file.`)
}
