// The images of a stored prompt. Their bytes can be 20 MB, and are stored once, beside the session, where the prompt
// finds them when it begins.
import { imageFormat } from "#ability/image/image-format.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import { decode } from "#ability/image/load-image.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"

/** The same parts without the bytes. */
export function storeImages(sessionId: string, parts: PromptPart[]): Promise<PromptPart[]> {
  return Promise.all(parts.map((part) => storeImage(sessionId, part)))
}

async function storeImage(sessionId: string, part: PromptPart): Promise<PromptPart> {
  if (part.type !== "image" || part.stored || !isInline(part.source)) return part
  try {
    const bytes = decode(part.source.value)
    const { mimeType } = await imageFormat(bytes)
    const hash = await ImageStore.write(sessionId, bytes)
    return { ...part, source: { kind: "base64", value: sumOf(hash), mimeType }, stored: { hash, mimeType } }
  } catch (error) {
    // Bytes that are no image fail when the prompt begins, and its message says why.
    if (error instanceof NamedError && error.name === "Image.Invalid") return part
    throw error
  }
}

/** Whether the image comes with its bytes, so that nothing must be fetched. */
export function isInline({ kind, value }: Message.Of<"image">["data"]["source"]): boolean {
  return kind === "base64" || (kind === "url" && /^data:/i.test(value))
}

/** The source of an image whose bytes are stored. */
export function sumOf(hash: string | undefined): string {
  return `sha256:${hash}`
}
