// Reads a request's body: never more than the limit, whatever its headers say; UTF-8 only; JSON up to a depth that
// recursive code can handle.
import type { IncomingMessage } from "node:http"
import { errorText } from "#util/error.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { invalidRequest, Refusal, tooLarge } from "./refusal.ts"
import type { HttpContext } from "./respond.ts"

/** Refuses a request by its Content-Length, before the body is read. */
export function checkLength(c: HttpContext, limit: number): void {
  if (Number(c.req.header("content-length") ?? 0) > limit) throw tooLarge(limit)
}

/** Reads the whole body. A client that sent `Expect: 100-continue` is told to send it only now. */
export async function readBody(c: HttpContext, limit: number): Promise<Buffer> {
  checkLength(c, limit)
  if (!c.env?.incoming) return collect(c.req.raw.body ?? [], limit)
  if (/100-continue/i.test(c.req.header("expect") ?? "")) c.env.outgoing?.writeContinue()
  return collectIncoming(c.env.incoming, limit)
}

export async function readJson(c: HttpContext, limit: number): Promise<unknown> {
  const type = c.req.header("content-type") ?? ""
  if (!/^application\/json *(;|$)/i.test(type))
    throw new Refusal({
      status: 415,
      name: "UnsupportedType",
      message: `A body must be sent as application/json, not ${JSON.stringify(type)}.`,
    })
  const bytes = await readBody(c, limit)
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    if (isTooDeep(text)) throw new Error("it is nested deeper than 100 levels")
    return JSON.parse(text)
  } catch (error) {
    throw invalidRequest("body", errorText(error))
  }
}

async function collect(parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, limit: number) {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const part of parts) {
    size += part.length
    if (size > limit) throw tooLarge(limit)
    kept.push(part)
  }
  return Buffer.concat(kept)
}

/** Uses events: leaving an iteration at the limit would destroy the socket before the response is sent. */
function collectIncoming(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let kept: Buffer[] = []
  let size = 0
  incoming.on("data", (part: Buffer) => {
    size += part.length
    if (size <= limit) return void kept.push(part)
    kept = []
    reject(tooLarge(limit))
  })
  incoming.once("end", () => resolve(Buffer.concat(kept)))
  incoming.once("close", () => reject(invalidRequest("body", "it ended early")))
  incoming.once("error", () => reject(invalidRequest("body", "it ended early")))
  return promise
}
