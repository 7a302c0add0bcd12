// Images that a model sees. The answer that describes an image is stored with it, so that a later model without
// vision still knows it. If the provider refuses images, their text is read by OCR and the request is made again.

import { describesImage } from "#ability/image/describes-image.ts"
import { findOcr } from "#ability/image/find-ocr.ts"
import * as ImageStore from "#ability/image/image-store.ts"
import type { OutputImage } from "#ability/tool/tool.ts"
import { factsOf } from "#engine/model/retry.ts"
import { isInline } from "#engine/queue/store-images.ts"
import { append, keep, lastId } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import type { Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText } from "#util/error.ts"
import { createAttaching } from "./attaching.ts"
import { readText, recognizeImage } from "./recognize-image.ts"

type ImageMessage = Message.Of<"image">
type Seeing = Pick<Run, "progress" | "chosen" | "session" | "signal" | "converter">

/** An image, and the call that returned it. */
export type GivenImage = OutputImage & { callId: string }

/** The beginning of a long answer is enough to describe an image. */
const maxAnalysis = 8_000
/** Statuses that never concern the content of a request. */
const unrelated = new Set([401, 402, 403, 407, 408, 409, 429])
const aboutImages = /\b(image|vision|multi-?modal|media.?type|mime.?type|mmproj)/i
const refusal = /support|not allowed|does not|doesn't|cannot|can't|missing|invalid|unknown|no endpoints/i

/** Make a request; if the provider refuses its images, read them by OCR and retry without them. */
export async function withImages(run: Seeing, ask: () => Promise<void>): Promise<void> {
  await readUnseen(run)
  try {
    return await ask()
  } catch (error) {
    run.signal.throwIfAborted()
    if (!isAboutImages(error)) throw error
    const shown = shownIn(run)
    if (!shown.length) throw error
    // Images that were sent before were accepted, so the provider refuses a new one.
    const fresh = shown.filter(({ data }) => data.state === "pending" || data.usedMode === "ocr")
    await readInstead(run, fresh.length ? fresh : shown, { why: errorText(error), isRefused: true })
    return await ask()
  }
}

/** Store an answer as the description of the images that it answers. An image without a description stays pending. */
export function noteSeen(run: Seeing, parts: Message.Part[]): void {
  const words = parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n")
    .trim()
  const lastAnswer = run.progress.history.findLastIndex(isOfModel)
  for (const message of shownIn(run)) {
    const isDirect = run.progress.history.lastIndexOf(message) > lastAnswer
    if (message.data.state === "pending" && describesImage(words, isDirect))
      change(run, message, {
        state: "done",
        usedMode: "vision",
        visionAnalysis: words.slice(0, maxAnalysis).toWellFormed(),
      })
  }
}

/** Shows the model the images that a tool returned: as messages like those for attached images, so that they are stored,
 * and read as text if the model takes no images. */
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

function isOfModel(message: Message.Info): boolean {
  return message.type === "tool_request" || (message.type === "text" && message.data.role === "assistant")
}

/** If the model takes no images: reads those by OCR that an earlier model saw but did not describe. */
async function readUnseen(run: Seeing): Promise<void> {
  if (sees(run)) return
  const unseen = imagesOf(run)
    .filter(isForVision)
    .filter(({ data }) => data.state === "pending" && data.stored)
  await readInstead(run, unseen, { why: "it takes none", isRefused: false })
}

/** Why an image cannot be shown. A refused image is not sent again to any model. */
type Unshown = { why: string; isRefused: boolean }

/** Reads images by OCR, and reports this to the person once for all of them. */
async function readInstead(run: Seeing, all: ImageMessage[], unshown: Unshown): Promise<void> {
  const { why } = unshown
  const read: ImageMessage[] = []
  for (const message of all) if (await readOne(run, message, unshown)) read.push(message)
  const [first] = read
  if (!first) return
  const what = read.length > 1 ? `${read.length} images` : "an image"
  const text = `${what} could not be shown to ${modelOf(run)} (${why}): the text is read instead (OCR)`
  Bus.publish(Notice, { sessionId: run.session.id, messageId: first.id, text })
}

/** Returns whether there is a text now; if not, the message says why. */
async function readOne(run: Seeing, message: ImageMessage, { why, isRefused }: Unshown): Promise<boolean> {
  const { session, signal } = run
  const { data } = message
  if (data.mode === "vision" || !findOcr()) {
    const error = `${modelOf(run)} did not take the image: ${why}. Use another model${findOcr() ? ' or the mode "ocr"' : ""}.`
    change(run, message, { state: "failed", error })
    return false
  }
  const mode = isRefused ? ({ mode: "ocr" } as const) : {}
  try {
    if (data.usedMode === "ocr") {
      change(run, message, mode)
      return true
    }
    const bytes = data.stored && ImageStore.read(session.id, data.stored.hash)
    if (!bytes) throw new Error("its bytes are not kept here; attach it again")
    const { imageFormat } = await import("#ability/image/image-format.ts")
    const text = await readText(data, { bytes, format: await imageFormat(bytes) }, signal)
    change(run, message, { ...text, ...mode })
    return true
  } catch (error) {
    signal.throwIfAborted()
    const both = `${modelOf(run)} did not take the image (${why}), and its text could not be read: ${errorText(error)}`
    change(run, message, { state: "failed", error: both })
    return false
  }
}

/** Changes the message in place, because the memory of the session holds the same object. */
function change(run: Seeing, message: ImageMessage, fields: Partial<ImageMessage["data"]>): void {
  message.data = { ...message.data, ...fields }
  run.converter.reset()
  keep(run.progress.records, MessageStore.write(message))
}

/** The images that are sent as images: their bytes must be available. */
function shownIn(run: Seeing): ImageMessage[] {
  if (!sees(run)) return []
  return imagesOf(run)
    .filter(isForVision)
    .filter(({ data }) => data.state !== "failed" && hasBytes(run, data))
}

function hasBytes({ session }: Seeing, { stored, source }: ImageMessage["data"]): boolean {
  return stored ? ImageStore.has(session.id, stored.hash) : isInline(source)
}

function imagesOf({ progress: { history } }: Seeing): ImageMessage[] {
  return history.filter((message) => message.type === "image")
}

function isForVision({ data }: ImageMessage): boolean {
  return data.mode !== "ocr"
}

function sees({ chosen }: Seeing): boolean {
  return chosen.facts?.input.includes("image") ?? false
}

function modelOf({ chosen: { providerId, modelId } }: Seeing): string {
  return `${providerId}/${modelId}`
}

/** Whether a provider refused the images. Providers word this in many ways, and some answer with a status of 500 or
 * more. */
function isAboutImages(error: unknown): boolean {
  const { statusCode, responseBody, message } = factsOf(error)
  if (statusCode === 413) return true
  if (statusCode !== undefined && (statusCode < 400 || unrelated.has(statusCode))) return false
  const said = `${message ?? ""} ${responseBody ?? ""}`.slice(0, 5_000)
  if (!aboutImages.test(said)) return false
  return (statusCode !== undefined && statusCode < 500) || refusal.test(said)
}
