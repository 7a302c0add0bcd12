// Keeps the pages of stories that passed, for the stories after them: a page that is there already is several times faster
// than a new one. Pages of stories that failed are thrown away.
import { createStoryPage, type StoryPage, type Surroundings, type Visit } from "./story-page.ts"

export type StoryPages = Readonly<{
  /** Runs `work` in a page of a story file. It runs once more, in a fresh page, if a page that other stories used before
   * notices a problem, which may be late news of those: only the last run counts. */
  use<T>(file: string, work: (visit: Visit) => Promise<T>): Promise<T>
}>

/** In milliseconds. The document before may keep a page from leaving it. */
const limits = { open: 30_000, reuse: 5_000 }

export function createStoryPages(around: Surroundings): StoryPages {
  const idle: StoryPage[] = []

  async function use<T>(file: string, work: (visit: Visit) => Promise<T>): Promise<T> {
    const used = idle.pop()
    const visit = used && (await revisit(used, file))
    if (used && visit) {
      const [done] = await Promise.allSettled([work(visit)])
      const isItsOwn = !visit.noticed().length
      await release(used)
      if (isItsOwn && done.status === "fulfilled") return done.value
      if (isItsOwn && done.status === "rejected") throw done.reason
    }
    const page = await createStoryPage(around)
    try {
      return await work(await page.visit(file, limits.open))
    } finally {
      await release(page)
    }
  }

  async function revisit(page: StoryPage, file: string): Promise<Visit | undefined> {
    try {
      return await page.visit(file, limits.reuse)
    } catch {
      await page.close()
      return undefined
    }
  }

  async function release(page: StoryPage): Promise<void> {
    if (await page.isReusable()) idle.push(page)
    else await page.close()
  }

  return Object.freeze({ use })
}
