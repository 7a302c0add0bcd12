// The lines of `vitamin doctor` about the browser of the agent navigator and of stories.
import { findBrowser } from "#ability/browser/find-browser.ts"
import { findAxe } from "#ability/world/find-axe.ts"
import type { Finding } from "./doctor.ts"

const about = "browser"

export async function findBrowsers(): Promise<Finding[]> {
  const found = findBrowser()
  if (Array.isArray(found))
    return found.map(({ what, todo }) => ({
      state: "note",
      about,
      text: `the agent navigator and stories have none: ${what}`,
      todo,
    }))
  const { path, todo } = findAxe()
  const axe: Finding[] = path
    ? []
    : [
        {
          state: "note",
          about,
          text: "axe-core is not installed: stories are not checked for accessibility",
          todo,
        },
      ]
  return [{ state: "ok", about, text: `${found.chromium}, for the agent navigator and stories` }, ...axe]
}
