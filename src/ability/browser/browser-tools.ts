// The tools of the navigator: a browser with one page for each session.
import { z } from "zod"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import type { Opened } from "./browser-session.ts"
import * as Browsers from "./browsers.ts"
import { findBrowser } from "./find-browser.ts"

const isWeb = (given: string) => {
  const url = URL.parse(given)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}
const Ref = z.string().max(20).describe("such as e3")
const OpenArgs = z.strictObject({
  url: z
    .string()
    .refine(
      isWeb,
      "expected a whole URL such as https://example.com/page (http or https, no user name or password)",
    ),
})
const ReadArgs = z.strictObject({ from: z.int().min(0).optional() })
const ClickArgs = z.strictObject({ ref: Ref, accept: z.boolean().optional() })
const TypeArgs = z.strictObject({ ref: Ref, text: z.string().max(100_000), submit: z.boolean().optional() })
const ShotArgs = z.strictObject({ full: z.boolean().optional() })
const WaitArgs = z.strictObject({
  text: z.string().min(1).max(500).optional(),
  seconds: z.number().min(0.1).max(30).optional(),
})

const viewport = { width: 1_280, height: 800 }
const maxHeight = 4_000

/** For docs/tools.md; models are not sent them. */
export const manuals = {
  browser_open: {
    example: { url: "https://example.com/form" },
    arguments: { url: "Address, http or https, without user name and password." },
    limits:
      "20 s. Addresses of this machine and of private networks need a rule that names them. Redirects and links must be allowed too, or stay on the site.",
  },
  browser_read: {
    example: { from: 20000 },
    arguments: { from: "First character to read, for long pages." },
    limits: "20,000 characters a call, a million in all.",
  },
  browser_click: {
    example: { ref: "e3" },
    arguments: {
      ref: "Reference of a link, button or field in the text of the page.",
      accept: "Answer dialogs of the page with OK instead of Cancel.",
    },
    limits: "It is asked for with the address of the page.",
  },
  browser_type: {
    example: { ref: "e4", text: "Ada", submit: true },
    arguments: {
      ref: "Reference of a field, or of a list to choose from.",
      text: "The new content, or the option to choose.",
      submit: "Press Enter afterwards.",
    },
    limits: "It is asked for with the address of the page. Files are not uploaded.",
  },
  browser_screenshot: {
    example: {},
    arguments: { full: "The whole page instead of the visible part." },
    limits: "1280 × 800 pixels; with `full` up to 4000 high.",
  },
  browser_wait: {
    example: { text: "Order sent" },
    arguments: { text: "Wait until the page shows this.", seconds: "Longest time, up to 30; default: 10." },
    limits: "30 s.",
  },
}

/** None if playwright-core or a Chromium is missing. */
export async function browserTools(): Promise<Definition[]> {
  return Array.isArray(findBrowser()) ? [] : definitions
}

const common = { category: "api", onlyNamed: true } as const

export const definitions: Definition[] = [
  tool({
    id: "browser_open",
    description:
      "Open a web page in a browser. Returns its text with references (e1, e2 …) of links, buttons and fields.",
    parameters: OpenArgs,
    readOnly: false,
    permission: ({ url }) => [{ permission: "network.fetch", target: URL.parse(url)?.href ?? url }],
    execute: ({ url }, context) =>
      inPage({ context, first: url, starts: true }, async (opened) => {
        await (await import("./act.ts")).go(opened, url)
        return shown(opened)
      }),
  }),
  tool({
    id: "browser_read",
    description: "Read the open page again: its text with references, and forms as they are filled in now.",
    parameters: ReadArgs,
    readOnly: true,
    execute: ({ from }, context) => inPage({ context }, (opened) => shown(opened, from)),
  }),
  tool({
    id: "browser_click",
    description:
      "Click a link, button, checkbox or other element of the open page by its reference. Dialogs are answered with Cancel, with `accept` with OK.",
    parameters: ClickArgs,
    readOnly: false,
    permission: (_, context) => ofPage(context),
    execute: ({ ref, accept = false }, context) =>
      inPage({ context, first: Browsers.get(context.sessionId)?.url() }, async (opened) => {
        const hasMoved = await (await import("./act.ts")).click(opened, { ref, accept })
        return done(opened, hasMoved, `Clicked ${ref}.`)
      }),
  }),
  tool({
    id: "browser_type",
    description:
      "Replace the content of a field of the open page, or choose an option of a list by its label. `submit` presses Enter.",
    parameters: TypeArgs,
    readOnly: false,
    permission: (_, context) => ofPage(context),
    execute: ({ ref, text, submit = false }, context) =>
      inPage({ context, first: Browsers.get(context.sessionId)?.url() }, async (opened) => {
        const hasMoved = await (await import("./act.ts")).type(opened, { ref, text, submit })
        return done(opened, hasMoved, `Typed into ${ref}.`)
      }),
  }),
  tool({
    id: "browser_screenshot",
    description: "Take a picture of the visible part of the open page, or with `full` of the whole page.",
    parameters: ShotArgs,
    readOnly: true,
    execute: ({ full = false }, context) => inPage({ context }, (opened) => shoot(opened, full)),
  }),
  tool({
    id: "browser_wait",
    description: "Wait until the open page shows a text, or for some seconds.",
    parameters: WaitArgs,
    readOnly: true,
    execute: ({ text, seconds = 10 }, context) =>
      inPage({ context }, async (opened) => {
        await (await import("./act.ts")).waitFor(opened, { text, seconds })
        return shown(opened)
      }),
  }),
]

/** With the types of its arguments. */
function tool<P extends z.ZodType>(plan: {
  id: string
  description: string
  parameters: P
  readOnly: boolean
  permission?(args: z.output<P>, context: Pick<Context, "sessionId"> | undefined): Need[]
  execute(args: z.output<P>, context: Context): Promise<Output>
}): Definition {
  return Object.freeze({ ...common, ...plan } as Definition)
}

/** A click may send what the page holds, so it needs the right to reach the page. */
function ofPage(context: Pick<Context, "sessionId"> | undefined): Need[] {
  const target = context && Browsers.get(context.sessionId)?.url()
  return target === undefined ? [] : [{ permission: "network.fetch", target }]
}

async function inPage(
  how: { context: Context; first?: string | undefined; starts?: boolean },
  work: (opened: Opened) => Promise<Output>,
): Promise<Output> {
  const session = await Browsers.create(how.context.sessionId)
  return session.use(how, async (opened) => {
    const output = await work(opened)
    const notes = opened.notes.take()
    return { ...output, text: [output.text, ...notes].join("\n") }
  })
}

async function shown({ page, snapshot }: Opened, from = 0): Promise<Output> {
  const text = await snapshot.read(page, from)
  return { text, title: page.url(), data: { url: page.url() } }
}

/** After an action: the new page, or where we still are. */
async function done(opened: Opened, hasMoved: boolean, said: string): Promise<Output> {
  const url = opened.page.url()
  if (!hasMoved) return { text: `${said} The address is still ${url}`, title: said, data: { url } }
  const { text, ...rest } = await shown(opened)
  return { ...rest, text: `${said} Now at ${text}` }
}

async function shoot({ page }: Opened, full: boolean): Promise<Output> {
  const height = full ? await heightOf(page) : viewport.height
  // A picture of all of a long page takes minutes.
  await page.setViewportSize({ ...viewport, height: Math.min(Math.max(height, viewport.height), maxHeight) })
  const bytes = await page
    .screenshot({ type: "jpeg", quality: 70, timeout: 10_000 })
    .finally(() => page.setViewportSize(viewport))
  const isCut = height > maxHeight
  return {
    text: `Picture of ${page.url()}${isCut ? `, the first ${maxHeight} of ${height} pixels` : ""}`,
    title: page.url(),
    images: [{ data: bytes.toString("base64"), mimeType: "image/jpeg" }],
  }
}

async function heightOf(page: Opened["page"]): Promise<number> {
  type Dom = { document: { documentElement: { scrollHeight: number } } }
  return page.evaluate(() => Number((globalThis as unknown as Dom).document.documentElement.scrollHeight))
}
