// Pages that were fetched a moment ago, so that a model that asks again is not made to wait. Only the same URL counts, and
// only for whoever may see it: what a call may reach is part of the question, and each redirect is judged again.

import type { Context, Output } from "#ability/tool/define/types.ts"
import { Instance } from "#kernel/instance.ts"
import type { SemanticCache } from "#knowledge/cache/semantic-cache.ts"
import { checkRedirect } from "./check-redirect.ts"
import type { Page } from "./get-page.ts"

type Kept = { output: Output; until: number; hops: { from: string; to: string }[] }
type Asked = { url: string; context: Context }

const minute = 60_000
/** Behind a URL: the page is wanted anew. */
const anew = /#again$/
/** What runs on this machine is often being worked on. */
const longest = { everywhere: 5 * minute, here: minute / 6 }
const limits = { maxEntries: 200, maxBytes: 16_000_000 }

const state = Instance.state((): { pages?: Promise<SemanticCache> } => ({}))

/** What the page gave, and how many seconds ago. */
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
