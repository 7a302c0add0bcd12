// The text of a page: HTML as Markdown, other text as it is, and a description of anything else.
import { fileKind } from "#ability/file/text-file.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import type { Page } from "./get-page.ts"

const sampleBytes = 8_192
const shortCharacters = 500
const html = /^(text\/html|application\/xhtml\+xml)$/
const text = /^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|graphql|sql|x-sh)$/

class BadStatus extends NamedError {
  constructor(page: Page, body: string) {
    const said = body ? `:\n${body}` : " and nothing else."
    super("Fetch.BadStatus", `${page.url.href} answered with status ${page.status}${said}`, {
      url: page.url.href,
      status: page.status,
    })
  }
}

/** A page as a model reads it. Throws for a status that means failure, with the beginning of what the server said. */
export async function pageText(page: Page, signal: AbortSignal): Promise<{ text: string; title?: string }> {
  if (page.status < 200 || page.status > 299) throw new BadStatus(page, await beginning(page))
  const mimeType = mimeTypeOf(page)
  if (!text.test(mimeType) && !html.test(mimeType)) return { text: describe(page, mimeType) }
  const [{ decodeText }, { toMarkdown }] = await Promise.all([
    import("./decode-text.ts"),
    import("./to-markdown.ts"),
  ])
  const decoded = decodeText(page.bytes, page.contentType)
  if (!html.test(mimeType)) return { text: decoded || "(empty page)" }
  const { title, text: markdown, isPlain } = await toMarkdown(decoded, page.url.href, signal)
  const body = markdown || "(No text: the page is empty, or made by scripts, which are not run.)"
  const note = isPlain ? "\n\n[without links and headings: the page is too large or too deeply nested]" : ""
  return { text: `${title ? `# ${title}\n\n` : ""}${body}${note}`, ...(title ? { title } : {}) }
}

/** The type of the header, unless there is none, or it says "text" about binary bytes. */
function mimeTypeOf({ bytes, contentType }: Page): string {
  const said = contentType.split(";")[0]!.trim().toLowerCase()
  const isVague = said === "" || said === "application/octet-stream"
  if (!isVague && !/^text\//.test(said)) return said
  const start = bytes.subarray(0, sampleBytes)
  const kind = fileKind(start)
  if (kind.kind === "binary") return /charset/i.test(contentType) ? said : kind.mimeType
  if (!isVague) return said
  return /^\s*<(!doctype html|html|head|body)\b/i.test(start.toString("latin1")) ? "text/html" : "text/plain"
}

function describe(page: Page, mimeType: string): string {
  const kind = fileKind(page.bytes.subarray(0, sampleBytes))
  const name = kind.kind === "binary" && kind.name !== "binary file" ? `${kind.name}, ` : ""
  const pixels = kind.kind === "binary" && kind.width ? `${kind.width} × ${kind.height} pixels, ` : ""
  const size = page.declared ?? `${page.isCut ? "more than " : ""}${page.bytes.length}`
  return `${page.url.href} is not text: ${name}${mimeType}, ${pixels}${size} bytes. Its content is not shown.`
}

async function beginning(page: Page): Promise<string> {
  const mimeType = mimeTypeOf(page)
  if (!text.test(mimeType) && !html.test(mimeType)) return ""
  const [{ decodeText }, { stripTags }] = await Promise.all([
    import("./decode-text.ts"),
    import("#util/parse/strip-tags.ts"),
  ])
  const decoded = decodeText(page.bytes, page.contentType)
  const said = html.test(mimeType) ? stripTags(decoded).text : decoded.trim()
  return said.length > shortCharacters ? `${Secret.cut(said, shortCharacters)}…` : said
}
