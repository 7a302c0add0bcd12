// Runs one story in a page. Whatever the page does is bounded and named: it may hang, throw, navigate away, open dialogs or
// windows, or reach for the network.
import type { Page } from "playwright-core"
import { errorText } from "#util/error.ts"
import { bounded, Late } from "./bounded.ts"
import { type Listed, listStories, playStory, type Violation } from "./play-story.ts"
import type { Surroundings, Visit } from "./story-page.ts"
import type { Outcome } from "./story-result.ts"

/** In milliseconds. */
const limits = { load: 10_000, story: 5_000, longest: 60_000, resize: 30_000, after: 30_000 }
const maxSnapshot = 20_000

/** The stories of the file. Throws what its modules throw. */
export async function listIn({ page, address, noticed, plain }: Visit): Promise<Listed[]> {
  try {
    return await bounded(page.evaluate(listStories, address), limits.load)
  } catch (error) {
    const reason = plain(reasonOf(error, limits.load, "Loading the module"))
    throw new Error([reason, ...noticed()].join("; "))
  }
}

export async function runStory(
  { axe }: Surroundings,
  visit: Visit,
  { name, intent, parameters }: Listed,
): Promise<Omit<Outcome, "file" | "modules">> {
  const { page, address, plain } = visit
  const began = performance.now()
  const limit = Math.min(Math.max(parameters.timeout || limits.story, 1), limits.longest)
  const assertions = { passed: 0, failed: 0 }
  const own: string[] = []
  let [what, allowed] = ["The story", limit]
  let seen: Pick<Outcome, "picture" | "snapshot" | "violations"> = {}
  try {
    if (parameters.viewport) await bounded(page.setViewportSize(sized(parameters.viewport)), limits.resize)
    const noAxe = axe.source === undefined ? axe.missing : undefined
    const played = await bounded(page.evaluate(playStory, { module: address, name, noAxe }), allowed)
    for (const { isPassed } of played.assertions) assertions[isPassed ? "passed" : "failed"]++
    if (played.error) own.push(withPlace(played.error, new URL(address).origin))
    what = "The look at the page after it"
    allowed = limits.after
    seen = await bounded(lookAt(page, noAxe === undefined && parameters.accessibility !== false), allowed)
  } catch (error) {
    // A page that navigates away takes its result with it: the navigation is the problem, not the lost result.
    const isKnown = own.length + visit.noticed().length > 0
    if (!isKnown || error instanceof Late) own.push(reasonOf(error, allowed, what))
  }
  const problems = [...visit.noticed(), ...own.map(plain)]
  const duration = Math.round(performance.now() - began)
  const status = problems.length || assertions.failed ? "failed" : "passed"
  if (status === "passed") visit.keep()
  if (seen.snapshot !== undefined) seen.snapshot = plain(seen.snapshot).slice(0, maxSnapshot)
  return { name, intent, status, problems, assertions, ...seen, duration }
}

async function lookAt(page: Page, isChecked: boolean): Promise<Partial<Outcome>> {
  const violations = isChecked
    ? await page.evaluate(() =>
        (globalThis as unknown as { vitaminViolations(): Promise<Violation[]> }).vitaminViolations(),
      )
    : undefined
  const snapshot = await page.locator("body").ariaSnapshot()
  const picture = await page.screenshot({ type: "png" })
  return { picture, snapshot, ...(violations ? { violations } : {}) }
}

function reasonOf(error: unknown, limit: number, what: string): string {
  if (error instanceof Late) return `${what} took longer than ${limit} ms`
  const text = errorText(error)
    .split("\n")[0]!
    .replace(/^\w+\.\w+: (Error: )?/, "")
  return /context was destroyed/.test(text) ? "It navigated away" : text
}

/** Where in the project it was thrown. */
function withPlace({ message, stack }: { message: string; stack: string }, origin: string): string {
  const at = stack.split(`${origin}/`)[1]
  const place = /^([^\s?)]+?:\d+:\d+)/.exec(at ?? "")?.[1]
  return place === undefined ? message : `${message} (${decodeURIComponent(place)})`
}

function sized({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const within = (pixels: number) => Math.min(Math.max(Math.round(pixels) || 1, 1), 4_000)
  return { width: within(width), height: within(height) }
}
