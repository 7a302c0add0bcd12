// The images of a guest's sessions, which the parent keeps with them.
import * as ImageStore from "#ability/image/image-store.ts"
import { Image, NewImage } from "#edge/sandbox/wire/doors.ts"
import type { PromptSessions } from "./prompt-sessions.ts"
import { Refused } from "./refused.ts"

/** Bytes of images that one prompt may add. */
const mostAdded = 256 << 20

export function createImageDoors(sessions: PromptSessions) {
  let added = 0

  async function get(args: unknown): Promise<string | null> {
    const { sessionId, hash } = Image.parse(args)
    return ImageStore.read(sessions.get(sessionId).id, hash)?.toString("base64") ?? null
  }

  async function put(args: unknown): Promise<void> {
    const { sessionId, bytes } = NewImage.parse(args)
    added += bytes.length
    if (added > mostAdded) throw new Refused("more space for images")
    await ImageStore.write(sessions.get(sessionId).id, Buffer.from(bytes, "base64"))
  }

  return Object.freeze({ get, put })
}
