// Which hosts a guest may reach beside those of `allowedDomains`: what a person allowed in answer to a question of this
// prompt, and what the person's rules allow. Addresses are those of the URL contract.
import { isIP } from "node:net"
import { type Checked, checkUrl, UrlDenied } from "#ability/web/check-url.ts"
import type { PromptSessions } from "./prompt-sessions.ts"
import type { createQuestionDoors } from "./questions.ts"

/** Hosts that are asked for at the same time: a program must not bury the person in questions. */
const mostAsked = 10

type Questions = Pick<ReturnType<typeof createQuestionDoors>, "rightsOf" | "askNetwork">

export function createNetworkDoor({ root, get }: PromptSessions, { rightsOf, askNetwork }: Questions) {
  const origins = new Set<string>()
  /** Open questions, and the noes: a program that tries again does not ask again. */
  const asked = new Map<string, Promise<boolean>>()

  let open = 0

  async function check(given: string): Promise<Checked> {
    // Loaded when the first program connects: it needs Node's client for https.
    const { resolveHost: resolve } = await import("#ability/web/get-page.ts")
    // As it is connected to, without characters that a terminal would obey.
    const { origin, hostname, href: url } = new URL(given)
    const isNamed = isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0 || hostname === "localhost"
    if (origins.has(origin)) return checkUrl(url, { resolve, granted: isNamed ? [origin] : [] })
    const rights = await rightsOf(root.id, get(root.id).agent)
    const { action, rule } = (await rights.now()).decide({ permission: "network.fetch", target: url })
    if (action === "ask" && (await askOnce(origin, url))) return check(url)
    if (action !== "allow")
      throw new UrlDenied(
        url,
        "domain",
        `the sandbox reaches only hosts that adapters.sandbox.security.allowedDomains names, or that --allow "network.fetch:${origin}/*" allows.`,
      )
    // A rule that names a private address means it; a wildcard that covers it by chance does not.
    const granted = rule?.pattern.startsWith(`${origin}/`) ? [origin] : []
    return checkUrl(url, { resolve, granted })
  }

  function askOnce(origin: string, url: string): Promise<boolean> {
    const known = asked.get(origin)
    if (known || open >= mostAsked) return known ?? Promise.resolve(false)
    open++
    const answer = askNetwork(url).finally(() => open--)
    asked.set(origin, answer)
    return answer
  }

  function allow(url: string): void {
    const { origin } = URL.parse(url) ?? {}
    if (origin !== undefined) origins.add(origin)
  }

  return Object.freeze({ check, allow })
}
