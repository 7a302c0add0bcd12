// The text of an image by OCR, as the fields of its message.
import { detectLanguage } from "#ability/image/language.ts"
import type { Image } from "#ability/image/load-image.ts"
import * as Ocr from "#ability/image/ocr.ts"
import type * as Message from "#knowledge/message/message.ts"

type Data = Message.Of<"image">["data"]

/** As much as a model sees of a tool's output. */
const maxCharacters = 50_000

/** Throws the errors of the OCR engine, and on abort. */
export async function readText(data: Data, image: Image, signal: AbortSignal): Promise<Partial<Data>> {
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
