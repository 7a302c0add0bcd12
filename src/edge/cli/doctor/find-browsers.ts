// The lines of `vitamin doctor` about the browser of the agent navigator.
import { findBrowser } from "#ability/browser/find-browser.ts"
import type { Finding } from "./doctor.ts"

const about = "browser"

export async function findBrowsers(): Promise<Finding[]> {
  const found = findBrowser()
  if (!Array.isArray(found))
    return [{ state: "ok", about, text: `${found.chromium}, for the agent navigator` }]
  return found.map(({ what, todo }) => ({
    state: "note",
    about,
    text: `the agent navigator has none: ${what}`,
    todo,
  }))
}
