// Reads and decompresses the body of a response up to a number of bytes: the rest is neither read nor decompressed,
// so that a small response cannot become a huge one.
import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { pipeline, type Readable, type Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { NamedError } from "#util/error.ts"

export type Body = { bytes: Buffer; isCut: boolean }

export async function readBody(response: IncomingMessage, limit: number): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of await unpack(response)) {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) break
    }
  } finally {
    response.destroy()
  }
  return { bytes: Buffer.concat(chunks).subarray(0, limit), isCut: size > limit }
}

async function unpack(response: IncomingMessage): Promise<Readable> {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase()
  if (encoding === "" || encoding === "identity") return response
  const unpacked = decoder(encoding, encoding === "deflate" ? await firstByte(response) : 0)
  // An error of either stream ends the other, and is thrown to the reader.
  return pipeline(response, unpacked, () => {})
}

async function firstByte(response: IncomingMessage): Promise<number> {
  await once(response, "readable")
  const first: Buffer | null = response.read(1)
  if (first) response.unshift(first)
  return first?.[0] ?? 0
}

/** Servers truncate compressed data, and "deflate" comes with and without a header. */
function decoder(encoding: string, first: number): Transform {
  const options = { finishFlush: constants.Z_SYNC_FLUSH }
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip(options)
  if (encoding === "br") return createBrotliDecompress()
  if (encoding !== "deflate")
    throw new NamedError(
      "Fetch.UnknownEncoding",
      `The page is packed as ${JSON.stringify(encoding)}, which was not asked for.`,
    )
  return (first & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)
}
