// Shows the model the images that a tool returned: as messages like those for attached images, so that they are
// stored, and read as text if the model takes no images.
import type { OutputImage } from "#ability/tool/tool.ts"
import { append, lastId } from "#engine/record/append.ts"
import type { Run } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"
import { createAttaching } from "./attaching.ts"
import { recognizeImage } from "./recognize-image.ts"

/** An image, and the call that returned it. */
export type GivenImage = OutputImage & { callId: string }

export async function showImages(run: Run, images: GivenImage[]): Promise<void> {
  const { session } = run
  for (const { data: value, mimeType, callId } of images) {
    const message = Message.make({
      sessionId: session.id,
      parentId: lastId(run),
      branch: session.branch,
      type: "image",
      data: { source: { kind: "base64", value, mimeType }, mode: "auto", state: "pending" },
    })
    const attaching = createAttaching(message, run)
    const data = await recognizeImage(message.data, attaching)
    message.data = { ...data, metadata: { ...data.metadata, callId } }
    append(run, message)
  }
}
