// One image of a session, for clients that show it: the bytes that were attached, or that a tool gave.
import { imageFormat } from "#ability/image/image-format.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { NamedError } from "#util/error.ts"

/** Bytes of an image that is given out. */
const maxBytes = 5_000_000

export class ImageNotFound extends NamedError {
  constructor(sessionId: string, hash: string, why: string) {
    super("Session.ImageNotFound", `Image ${hash} of session ${sessionId} ${why}.`, { sessionId, hash })
  }
}

/** `data` is base64. */
export async function getImage(
  sessionId: string,
  hash: string,
): Promise<{ mimeType: string; width: number; height: number; data: string }> {
  await SessionRecord.get(sessionId)
  if (!ImageStore.has(sessionId, hash)) await ImageStore.fetchShared(sessionId)
  const bytes = ImageStore.read(sessionId, hash)
  if (!bytes) throw new ImageNotFound(sessionId, hash, "does not exist")
  if (bytes.length > maxBytes)
    throw new ImageNotFound(
      sessionId,
      hash,
      `has ${bytes.length} bytes, and at most ${maxBytes} are given out`,
    )
  const { mimeType, width, height } = await imageFormat(bytes)
  return { mimeType, width, height, data: bytes.toString("base64") }
}
