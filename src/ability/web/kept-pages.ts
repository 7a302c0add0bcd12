// A short cache of fetched pages. An entry is used only for the same URL and the same permissions, and each redirect
// is judged again.

import type { Context, Output } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import type { SemanticCache } from "#knowledge/cache/semantic-cache.ts"
import { checkRedirect } from "./check-url.ts"
import type { Page } from "./get-page.ts"

type Kept = { output: Output; until: number; hops: { from: string; to: string }[] }
type Asked = { url: string; context: Context }

const minute = 60_000
/** A suffix of the URL that asks for a fresh page. */
const anew = /#again$/
/** Pages of this machine are kept for a shorter time, because they are often in development. */
const longest = { everywhere: 5 * minute, here: minute / 6 }
const limits = { maxEntries: 200, maxBytes: 16_000_000 }

const state = Instance.state((): { pages?: Promise<SemanticCache> } => ({}))

/** The cached page, and its age in seconds. */
export async function findPage({
  url,
  context,
}: Asked): Promise<{ output: Output; age: number } | undefined> {
  if (anew.test(new URL(url).href)) return undefined
  const { entry } = (await (await state().pages)?.lookup(keyOf({ url, context }))) ?? {}
  if (!entry) return undefined
  const { output, until, hops }: Kept = JSON.parse(entry.response)
  if (Date.now() >= until) return undefined
  const { judge } = context
  for (const { from, to } of judge ? hops : [])
    checkRedirect({ from: new URL(from), to: new URL(to), first: new URL(url), judge: judge! })
  return { output, age: Math.round((Date.now() - entry.cachedAt) / 1_000) }
}

export async function keepPage(asked: Asked & { page: Page; output: Output }): Promise<void> {
  const { page, output } = asked
  const time = Math.min(page.freshFor, page.isLocal ? longest.here : longest.everywhere)
  if (time <= 0) return
  const hops = page.hops.map(({ from, to }) => ({ from: from.href, to: to.href }))
  const kept: Kept = { output, until: Date.now() + time, hops }
  const own = state()
  own.pages ??= create()
  await (await own.pages).store(keyOf(asked), JSON.stringify(kept))
}

async function create(): Promise<SemanticCache> {
  const { createSemanticCache } = await import("#knowledge/cache/semantic-cache.ts")
  return createSemanticCache({ ...limits, ttlMs: longest.everywhere, embedder: false })
}

function keyOf({ url, context }: Asked): string {
  const origins = (context.granted ?? []).filter((place) => URL.canParse(place)).sort()
  return JSON.stringify([new URL(url).href.replace(anew, ""), origins])
}
