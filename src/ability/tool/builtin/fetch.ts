// The `fetch` tool: gets a web page as Markdown. The code for it is loaded with the first call.
import { z } from "zod"
import type { Context, Definition, Json, Output } from "#ability/call/types.ts"
import { fileKind } from "#ability/file/text-file.ts"
import type { Page } from "#ability/web/get-page.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { descriptions } from "./descriptions.ts"

const sampleBytes = 8_192
const shortCharacters = 500
const html = /^(text\/html|application\/xhtml\+xml)$/
const text = /^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|graphql|sql|x-sh)$/

const Parameters = z.strictObject({
  url: z
    .string()
    .refine(
      isFetchable,
      "expected a whole URL such as https://example.com/page (http or https, no user name or password)",
    ),
})
type Args = z.infer<typeof Parameters>

class BadStatus extends NamedError {
  constructor(page: Page, body: string) {
    const said = body ? `:\n${body}` : " and nothing else."
    super("Fetch.BadStatus", `${page.url.href} answered with status ${page.status}${said}`, {
      url: page.url.href,
      status: page.status,
    })
  }
}

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { url: "https://example.com/page" },
  arguments: { url: "Address, http or https, without user name and password." },
  limits:
    "Addresses of this machine and of private networks need a rule that names them. 30 s, 5 redirects, 5 MB.",
}

export const fetch = {
  id: "fetch",
  routingName: "browser_fetch",
  description: descriptions.fetch,
  category: "api",
  parameters: Parameters,
  readOnly: true,
  // In normalised form, so that no spelling gets around a rule.
  permission: ({ url }: Args) => [{ permission: "network.fetch", target: URL.parse(url)?.href ?? url }],
  execute,
} satisfies Definition

async function execute({ url }: Args, context: Context): Promise<Output> {
  const [{ getPage }, { findPage, keepPage }] = await Promise.all([
    import("#ability/web/get-page.ts"),
    import("#ability/web/kept-pages.ts"),
  ])
  const kept = await findPage({ url, context })
  if (kept) return again(kept.output, kept.age)
  const { signal, granted = [], judge } = context
  const page = await getPage(url, { signal, granted, ...(judge ? { judge } : {}) })
  if (page.status < 200 || page.status > 299) throw new BadStatus(page, await beginning(page))
  const content = await read(page, signal)
  const notes = [
    ...(page.url.href === new URL(url).href ? [] : [`redirected to ${page.url.href}`]),
    ...(page.isCut ? [`only the first ${page.bytes.length} bytes were read`] : []),
  ]
  const output: Output = {
    text: content.text + (notes.length ? `\n\n[${notes.join("; ")}]` : ""),
    title: content.title ? `${content.title} (${page.url.host})` : page.url.href,
    data: {
      url,
      finalUrl: page.url.href,
      status: page.status,
      contentType: page.contentType,
      bytes: page.declared ?? page.bytes.length,
      ...(content.title ? { title: content.title } : {}),
    },
  }
  await keepPage({ url, context, page, output })
  return output
}

/** A page from the cache, with a note that it is. */
function again({ text, data, ...rest }: Output, age: number): Output {
  const note = `[not fetched again: this is the page of ${age} s ago; add "#again" to the URL to fetch it again]`
  return { ...rest, text: `${text}\n\n${note}`, data: { ...(data as Record<string, Json>), age } }
}

/** Do not ask a person about an address that can never be fetched. */
function isFetchable(given: string): boolean {
  const url = URL.parse(given)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}

async function read(page: Page, signal: AbortSignal): Promise<{ text: string; title?: string }> {
  const mimeType = mimeTypeOf(page)
  if (!text.test(mimeType) && !html.test(mimeType)) return { text: describe(page, mimeType) }
  const [{ decodeText }, { toMarkdown }] = await Promise.all([
    import("#ability/web/decode-text.ts"),
    import("#ability/web/to-markdown.ts"),
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
    import("#ability/web/decode-text.ts"),
    import("#util/parse/strip-tags.ts"),
  ])
  const decoded = decodeText(page.bytes, page.contentType)
  const said = html.test(mimeType) ? stripTags(decoded).text : decoded.trim()
  return said.length > shortCharacters ? `${Secret.cut(said, shortCharacters)}…` : said
}
