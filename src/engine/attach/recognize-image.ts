// Prepares an image of a prompt before the model is asked: stores its bytes, and reads its text by OCR if the model
// takes no images. An image for a model that takes images stays pending until the model has answered: see-images.ts
// stores the answer as the description of the image, which saves a request.

import { findOcr } from "#ability/image/find-ocr.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import type { Image } from "#ability/image/load-image.ts"
import type { ModelFacts } from "#ability/provider/provider.ts"
import { builtin } from "#ability/tool/builtin-tools.ts"
import { isInline, sumOf } from "#engine/queue/store-images.ts"
import type * as Message from "#knowledge/message/message.ts"
import { errorText, NamedError } from "#util/error.ts"
import type { Attaching } from "./attaching.ts"

export type Data = Message.Of<"image">["data"]

/** The limit for recognised text, about the same as for the output of a tool. */
const maxCharacters = 50_000

class Lost extends NamedError {
  constructor(why: string) {
    super("Image.Lost", `${why} Attach it again.`)
  }
}

/** Never throws: after an error, the data has the error and the state "failed"; after an interruption, the state
 * "pending". Calling it again with that data retries. */
export async function recognizeImage(data: Data, attaching: Attaching): Promise<Data> {
  const { source, mode, stored } = data
  let known: Data = { source, mode, state: "pending", ...(stored ? { stored } : {}) }
  try {
    const { image, ...kept } = await keepImage(known, attaching)
    known = { ...known, ...kept }
    return await recognize(known, image, attaching)
  } catch (error) {
    return attaching.signal.aborted ? interrupted(known) : failed(known, error)
  }
}

/** An interrupted image can be retried later, unless its bytes are stored nowhere. */
export function interrupted(data: Data): Data {
  if (data.stored || !isInline(data.source)) return data
  return failed(data, new Lost("The prompt was interrupted before the image was stored."))
}

async function recognize(data: Data, image: Image, { facts, signal, tell }: Attaching): Promise<Data> {
  const sees = facts?.input.includes("image") ?? false
  if (data.mode === "ocr") return withText(data, image, signal)
  if (sees) return { ...data, usedMode: "vision" }
  if (data.mode === "vision" || !findOcr())
    throw new NamedError(
      "Image.NoVision",
      `${nameOf(facts)} takes no images. Choose one that does${findOcr() ? ', or the mode "ocr" or "auto", which reads their text (--image-mode)' : ""}.`,
    )
  tell(`${nameOf(facts)} takes no images, so vision is not available: their text is read instead (OCR)`)
  return withText(data, image, signal)
}

async function withText(data: Data, image: Image, signal: AbortSignal): Promise<Data> {
  return { ...data, ...(await readText(data, image, signal)) }
}

/** Loads an image, stores its bytes with the session, and returns the image and the fields of its message. */
async function keepImage(data: Data, attaching: Attaching) {
  const image = await load(data, attaching)
  const { mimeType, width, height, frames } = image.format
  const hash = await ImageStore.write(attaching.context.sessionId, image.bytes)
  const { source } = data
  const isMoved = isInline(source)
  return {
    image,
    source: { kind: isMoved ? "base64" : source.kind, value: isMoved ? sumOf(hash) : source.value, mimeType },
    stored: { hash, mimeType },
    metadata: { width, height, bytes: image.bytes.length, ...(frames > 1 ? { frames } : {}) },
  } satisfies Partial<Data> & { image: Image }
}

/** Loads an image from its source, if the rules allow that. The bytes of an inline image may be stored with the session
 * already. */
async function load({ source, stored }: Data, attaching: Attaching): Promise<Image> {
  const { loadImage } = await import("#ability/image/load-image.ts")
  if (source.kind === "file")
    return loadImage(source, await attaching.permit(builtin.read, { path: source.value }))
  if (!isInline(source))
    return loadImage(source, await attaching.permit(builtin.fetch, { url: source.value }))
  if (source.value !== sumOf(stored?.hash)) return loadImage(source, attaching.context)
  const bytes = ImageStore.read(attaching.context.sessionId, stored!.hash)
  if (!bytes) throw new Lost("The stored image was removed.")
  const { imageFormat } = await import("#ability/image/image-format.ts")
  return { bytes, format: await imageFormat(bytes) }
}

function failed(data: Data, error: unknown): Data {
  const source = data.stored ? data.source : shortened(data.source)
  return { ...data, source, state: "failed", error: errorText(error) }
}

/** Shortens inline bytes that were not stored, and removes user name and password from a URL, which the model would see. */
function shortened(source: Data["source"]): Data["source"] {
  const { value } = source
  if (isInline(source)) return value.length > 200 ? { ...source, value: `${value.slice(0, 100)}…` } : source
  if (source.kind !== "url") return source
  return { ...source, value: value.replace(/^(https?:\/\/)[^/?#]*@/i, "$1") }
}

function nameOf(facts: ModelFacts | undefined): string {
  return facts ? `the model ${facts.provider}/${facts.id}` : "this model"
}

/** The text of an image by OCR, as the fields of its message. Throws the errors of the OCR engine, and on abort. */
export async function readText(data: Data, image: Image, signal: AbortSignal): Promise<Partial<Data>> {
  const Ocr = await import("#ability/image/ocr.ts")
  const { detectLanguage } = await import("#ability/image/language.ts")
  const { text, confidence } = await Ocr.ofInstance().read(image, signal)
  const language = await detectLanguage(text)
  return {
    usedMode: "ocr",
    state: "done",
    recognizedText: bounded(text),
    metadata: { ...data.metadata, confidence, ...(language ? { language } : {}) },
  }
}

function bounded(text: string): string {
  const more = text.length - maxCharacters
  return more > 0 ? `${text.slice(0, maxCharacters).toWellFormed()}\n[… ${more} characters left out]` : text
}
