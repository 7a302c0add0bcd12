// The `fetch` tool: gets a web page as Markdown. The code for it is loaded with the first call.
import { z } from "zod"
import type { Context, Definition, Json, Output } from "#ability/call/types.ts"
import { descriptions } from "./descriptions.ts"

const Parameters = z.strictObject({
  url: z
    .string()
    .refine(
      isFetchable,
      "expected a whole URL such as https://example.com/page (http or https, no user name or password)",
    ),
})
type Args = z.infer<typeof Parameters>

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
  const [{ getPage }, { pageText }, { findPage, keepPage }] = await Promise.all([
    import("#ability/web/get-page.ts"),
    import("#ability/web/page-text.ts"),
    import("#ability/web/kept-pages.ts"),
  ])
  const kept = await findPage({ url, context })
  if (kept) return again(kept.output, kept.age)
  const { signal, granted = [], judge } = context
  const page = await getPage(url, { signal, granted, ...(judge ? { judge } : {}) })
  const content = await pageText(page, signal)
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
