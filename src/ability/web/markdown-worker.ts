// Converts a page's main content to Markdown, in a thread: a page can keep these libraries busy for hours, and a thread
// can be terminated. It imports no other file of ours, because a shared chunk of the bundle could start the program
// itself.
import { parentPort, workerData } from "node:worker_threads"
import { addRules, type Element } from "./markdown-rules.ts"

export type Task = { toMarkdown: { html: string; url: string } }
export type Answer = { title: string; markdown: string }
type Document = Element & { title: string; body: Element }

/** Where a worker finds this file, bundled or not. */
export const location: string = import.meta.url

const dropped =
  "script,style,noscript,template,svg,math,canvas,iframe,object,nav,dialog,button,[role=navigation]"
const maxElements = 60_000
const fewCharacters = 500

const task = (workerData as Partial<Task> | null)?.toMarkdown
if (task) parentPort?.postMessage(await convert(task.html, task.url))

async function convert(html: string, url: string): Promise<Answer> {
  const [{ parseHTML }, { Readability }, { default: TurndownService }] = await Promise.all([
    import("linkedom"),
    import("@mozilla/readability"),
    import("turndown"),
  ])
  const service = new TurndownService({ headingStyle: "atx", bulletListMarker: "-", emDelimiter: "*" })
  addRules(service)
  const load = () => prepare(parseHTML(withBody(html)).document as unknown as Document, url)

  const document = load()
  const title = document.querySelector("title")?.textContent ?? ""
  const characters = document.body.textContent.trim().length
  const article = findArticle(
    new Readability<Element>(document, {
      serializer: (node) => node as Element,
      keepClasses: true,
      maxElemsToParse: maxElements,
    }),
  )
  const length = article?.length ?? 0
  // A short part of a long page is not its main content: the page is a list, or a front page.
  const isMain = length >= fewCharacters || length * 2 >= characters
  const markdown = article?.content && isMain ? service.turndown(article.content) : ""
  return { title: article?.title || title, markdown: markdown || service.turndown(load().body) }
}

/** The parser adds no head and body, and the other libraries need them. */
function withBody(html: string): string {
  if (/<html[\s>]/i.test(html) && /<body[\s>]/i.test(html)) return html
  const [title = ""] = /<title[^>]{0,200}>[^<]{0,1000}<\/title\s*>/i.exec(html) ?? []
  const frame = /<!doctype[^>]{0,500}>|<\/?(?:html|head|body)(?:\s[^>]{0,2000})?>/gi
  const inner = html.replace(title, "").replace(frame, "")
  return `<!doctype html><html><head>${title}</head><body>${inner}</body></html>`
}

/** Too many elements, or an unexpected document: use the whole body. */
function findArticle<T>(reader: { parse(): T }): T | null {
  try {
    return reader.parse()
  } catch {
    return null
  }
}

/** Removes elements without content, and makes links absolute. */
function prepare(document: Document, url: string): Document {
  for (const element of document.querySelectorAll(dropped)) element.remove()
  const base = absolute(document.querySelector("base")?.getAttribute("href") ?? "", url) ?? url
  for (const link of document.querySelectorAll("a")) {
    const href = link.getAttribute("href")?.trim() ?? ""
    const target = href.startsWith("#") ? undefined : absolute(href, base)
    if (target) link.setAttribute("href", target)
    else link.removeAttribute("href")
    if (!target && link.textContent.trim().length < 2 && !link.querySelector("img")) link.remove()
  }
  for (const image of document.querySelectorAll("img")) {
    const source = absolute(image.getAttribute("src") ?? "", base)
    if (source && image.getAttribute("alt")?.trim()) image.setAttribute("src", source)
    else image.remove()
  }
  return document
}

function absolute(link: string, base: string): string | undefined {
  const url = URL.canParse(link, base) ? new URL(link, base) : undefined
  return url && /^(https?|mailto|tel|ftp):$/.test(url.protocol) ? url.href : undefined
}
