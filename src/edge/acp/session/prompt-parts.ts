// Converts the content blocks of a client's prompt into our parts. Text blocks and links become one text; linked files,
// images and embedded content are attached after it. Embedded content is marked with its source.
import { isAbsolute, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import type * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import { plainText } from "#util/plain-text.ts"

/** `mentionsIn` is the text that the person wrote. Only there does `@path` attach a file. */
export type PromptParts = { words: string; mentionsIn: string; attached: Session.PromptPart[] }
type Piece = { text: string; isOwn: boolean }
type Block<T extends ContentBlock["type"]> = Extract<ContentBlock, { type: T }>
type Lines = { startLine?: number; endLine?: number }

const maxBlocks = 1_000
const maxShown = 4_000
/** `#L10`, `#L10-20`, `#L10-L20`, `#L10:20` */
const lines = /^#L(\d+)(?:C\d+)?(?:[-:]L?(\d+)(?:C\d+)?)?$/i

/** Must be called inside the instance of the session's folder. */
export function promptParts(blocks: readonly ContentBlock[]): PromptParts {
  if (blocks.length > maxBlocks) throw new InvalidParams(`A prompt may have up to ${maxBlocks} blocks.`)
  const pieces: Piece[] = []
  const attached: Session.PromptPart[] = []
  for (const block of blocks)
    switch (block.type) {
      case "text":
        pieces.push({ text: block.text, isOwn: true })
        break
      case "image":
        attached.push(imageOf(block.data, block.mimeType))
        break
      case "resource_link":
        pieces.push({ text: linkTo(block, attached), isOwn: false })
        break
      case "resource":
        pieces.push({ text: embed(block, attached), isOwn: false })
        break
      case "audio":
        throw new InvalidParams("Audio is not supported in a prompt: text, images, links and resources are.")
      default:
        throw new InvalidParams(
          `Content blocks of type ${JSON.stringify((block as ContentBlock).type)} are not supported.`,
        )
    }
  const own = pieces.filter(({ isOwn }) => isOwn).map(({ text }) => text)
  return { words: join(pieces), mentionsIn: own.join("\n"), attached }
}

function linkTo(link: Block<"resource_link">, attached: Session.PromptPart[]): string {
  const { uri, name, title } = link
  if (!/^file:/i.test(uri)) return `[${shown(title || name)}](${shown(uri)})`
  const { path, range } = fileOf(uri)
  attached.push({ type: "file_reference", path, ...range })
  return mention(path, range)
}

function embed({ resource }: Block<"resource">, attached: Session.PromptPart[]): string {
  const { uri, mimeType } = resource
  if ("text" in resource) {
    attached.push({ type: "text", text: insideTag("resource", resource.text, { uri: shown(uri) }) })
    if (!/^file:/i.test(uri)) return `[${shown(uri)}]`
    const { path, range } = fileOf(uri)
    return mention(path, range)
  }
  if (!mimeType || !/^image\//i.test(mimeType))
    throw new InvalidParams(
      `The resource ${JSON.stringify(uri.slice(0, 200))} is ${mimeType ? `of type ${mimeType.slice(0, 100)}` : "of no known type"}: only text and images can be embedded.`,
    )
  attached.push(imageOf(resource.blob, mimeType))
  return `[${shown(uri)}]`
}

/** Names and URIs that the person did not write: on one line, and without characters that could open or close a tag. */
function shown(text: string): string {
  return plainText(text, maxShown).replace(/\s+/g, " ").replaceAll("<", "‹").replaceAll(">", "›")
}

function imageOf(value: string, mimeType: string): Session.PromptPart {
  if (!value) throw new InvalidParams("An image has no data.")
  return { type: "image", source: { kind: "base64", value, mimeType } }
}

function fileOf(uri: string): { path: string; range: Lines } {
  const url = URL.parse(uri)
  const [, first, last] = lines.exec(url?.hash ?? "") ?? []
  try {
    const path = fileURLToPath(url!)
    if (path.includes("\0")) throw new InvalidParams("it has a NUL byte")
    return { path, range: first ? { startLine: Number(first), endLine: Number(last ?? first) } : {} }
  } catch {
    throw new InvalidParams(
      `${JSON.stringify(uri.slice(0, 200))} is not the address of a file on this machine.`,
    )
  }
}

/** The mention `@path:10-20` of a file, as a person would type it. */
function mention(path: string, { startLine, endLine }: Lines): string {
  const inside = relative(Instance.directory, path)
  const place = shown(inside && !inside.startsWith("..") && !isAbsolute(inside) ? inside : path)
  const range = startLine === undefined ? "" : `:${startLine}${endLine === startLine ? "" : `-${endLine}`}`
  return /[\s"]/.test(place) ? `@"${place}"${range}` : `@${place}${range}`
}

/** Adjacent text blocks become paragraphs; links stay inside their line. */
function join(pieces: readonly Piece[]): string {
  let words = ""
  for (const [i, { text, isOwn }] of pieces.entries()) {
    const isParagraph = isOwn && pieces[i - 1]?.isOwn
    const isApart = !words || !text || /\s$/.test(words) || /^[\s.,;:!?)]/.test(text)
    words += `${isParagraph ? "\n\n" : isApart ? "" : " "}${text}`
  }
  return words
}
