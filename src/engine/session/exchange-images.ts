// The images of a session that leaves or comes back, by their sums.
import * as ImageStore from "#ability/image/image-store.ts"
import type * as Message from "#knowledge/message/message.ts"

/** In base64; undefined where there are none. */
export function takeImages(
  sessionId: string,
  messages: readonly Message.Info[],
): Record<string, string> | undefined {
  const images: Record<string, string> = {}
  for (const message of messages) {
    const hash = message.type === "image" ? message.data.stored?.hash : undefined
    const bytes = hash && !Object.hasOwn(images, hash) ? ImageStore.read(sessionId, hash) : undefined
    if (hash && bytes) images[hash] = bytes.toString("base64")
  }
  return Object.keys(images).length ? images : undefined
}

/** What is no image throws before anything is kept. */
export async function readImages(images: Record<string, string> = {}): Promise<Buffer[]> {
  const all = Object.values(images).map((base64) => Buffer.from(base64, "base64"))
  const { imageFormat } = await import("#ability/image/image-format.ts")
  for (const bytes of all) await imageFormat(bytes)
  return all
}

export async function keepImages(sessionId: string, images: readonly Buffer[]): Promise<void> {
  for (const bytes of images) await ImageStore.write(sessionId, bytes)
}
