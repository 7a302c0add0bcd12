// The images of a session inside the sandbox: those that the parent has come with a prompt, new ones go back at its end.
import * as ImageStore from "#ability/image/image-store.ts"
import type { Peer } from "#edge/sandbox/wire/peer.ts"

/** `hashes`: those that the parent has. Returns the function that sends the new ones. */
export async function fetchImages(
  ask: Peer["ask"],
  sessionId: string,
  hashes: readonly string[],
): Promise<() => Promise<void>> {
  const known = new Set(hashes)
  for (const hash of known) {
    if (ImageStore.has(sessionId, hash)) continue
    const bytes = (await ask("image.get", { sessionId, hash })) as string | null
    if (bytes !== null) await ImageStore.write(sessionId, Buffer.from(bytes, "base64"))
  }
  return async () => {
    for (const hash of await ImageStore.list(sessionId)) {
      const bytes = known.has(hash) ? undefined : ImageStore.read(sessionId, hash)
      if (bytes) await ask("image.put", { sessionId, bytes: bytes.toString("base64") }).catch(() => {})
    }
  }
}
