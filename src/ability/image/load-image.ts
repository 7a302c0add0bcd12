// Loads the bytes of an image: from a file with the checks of `read`, from a URL with the checks of `fetch`, or from
// base64.
import { readSync } from "node:fs"
import { openTarget } from "#ability/file/open-target.ts"
import type { Context } from "#ability/tool/tool.ts"
import type { Page } from "#ability/web/get-page.ts"
import type * as Message from "#knowledge/message/message.ts"
import { ImageInvalid } from "./errors.ts"
import { type Format, imageFormat, maxBytes, tooLong } from "./image-format.ts"

export type Source = Message.Of<"image">["data"]["source"]
export type Image = { bytes: Buffer; format: Format }

/** `context` limits which files and URLs may be read. Throws `ImageInvalid`, and the errors of files and pages. */
export async function loadImage(source: Source, context: Context): Promise<Image> {
  const bytes = await bytesOf(source, context)
  context.signal.throwIfAborted()
  return { bytes, format: await imageFormat(bytes) }
}

async function bytesOf(source: Source, context: Context): Promise<Buffer> {
  const { kind, value } = source
  if (kind === "file") return readImage(value, context)
  return kind === "url" && !/^data:/i.test(value) ? fetchImage(value, context) : decode(value)
}

async function readImage(path: string, context: Context): Promise<Buffer> {
  using target = await openTarget(path, context)
  if (target.isDirectory) throw new ImageInvalid(`${JSON.stringify(target.shown)} is a folder.`)
  if (target.size > maxBytes) throw tooLong(target.size)
  const { fd } = target.handle
  // One byte more, for a file that grows while it is read.
  const bytes = Buffer.allocUnsafe(target.size + 1)
  let length = 0
  for (;;) {
    const more = readSync(fd, bytes, length, bytes.length - length, length)
    length += more
    if (more === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}

async function fetchImage(url: string, context: Context): Promise<Buffer> {
  const { getPage } = await import("#ability/web/get-page.ts")
  const { signal, granted = [], judge } = context
  const limits = { bytes: maxBytes }
  const page = await getPage(url, { signal, granted, limits, ...(judge ? { judge } : {}) })
  refuseStatus(page)
  if (page.isCut) throw tooLong(page.declared ?? maxBytes + 1)
  return page.bytes
}

function refuseStatus({ status, url }: Page): void {
  if (status < 200 || status > 299) throw new ImageInvalid(`${url.href} answered with status ${status}.`)
}

/** The bytes of base64 text or of a `data:` URL. */
export function decode(value: string): Buffer {
  const [head] = /^data:[^,]*,/i.exec(value.slice(0, 1_000)) ?? [""]
  if (head && !/;base64,$/i.test(head)) throw new ImageInvalid("its data: URL is not in base64.")
  // Three bytes in four characters, and room for line ends.
  if (value.length > maxBytes * 1.5) throw tooLong(Math.floor((value.length * 3) / 4))
  const text = value.slice(head.length).replace(/\s+/g, "")
  if (!text) throw new ImageInvalid("it is empty.")
  if (!/^[\w+/-]+={0,2}$/.test(text)) throw new ImageInvalid("its text is not base64.")
  return Buffer.from(text, "base64")
}
