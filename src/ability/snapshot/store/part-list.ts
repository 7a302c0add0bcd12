// A snapshot of many files is too long for a message: their list is kept in the store, and the message has its hash.
import { z } from "zod"
import { Change, type Part } from "./part.ts"
import { addHashes } from "./session-log.ts"
import type { Shadow } from "./shadow.ts"

const many = 500

/** The snapshot as it goes into a message. What it needs is noted for its session. */
export function shorten(shadow: Shadow, sessionId: string, part: Part): Part {
  const hashes = part.files.map(({ before }) => before?.hash)
  if (part.files.length <= many) {
    addHashes(shadow, sessionId, hashes)
    return part
  }
  const list = shadow.store.put(Buffer.from(JSON.stringify(part.files)))
  addHashes(shadow, sessionId, [list, ...hashes])
  return { ...part, files: [], list }
}

/** The same with its files. */
export async function lengthen(shadow: Shadow, { list, ...part }: Part): Promise<Part> {
  if (!list) return part
  const bytes = await shadow.store.read(list)
  return { ...part, files: z.array(Change).parse(JSON.parse(bytes.toString())) }
}
