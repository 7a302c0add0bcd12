// Reads the card of a remote agent. A card is data from another machine: it says how to reach the agent, and nothing of
// its text is shown to a model. Its address must be of the configured origin, and it must speak our version.
import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, AgentCard, type AgentInterface } from "@a2a-js/sdk"
import { errorText } from "#util/error.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { type Fetch, InvalidRemote, type Remote } from "./remote-fetch.ts"

const cardLimit = 1 << 20
const timeout = 20_000
const binding = "JSONRPC"

/** The card, and the interface that we use. */
export async function readCard(
  remote: Remote,
  { fetch, signal }: { fetch: Fetch; signal: AbortSignal },
): Promise<{ card: AgentCard; chosen: AgentInterface }> {
  const card = await getCard(remote, {
    fetch,
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
  })
  const fitting = card.supportedInterfaces.filter(
    ({ protocolBinding }) => protocolBinding.toUpperCase() === binding,
  )
  const chosen = fitting.find(({ protocolVersion }) => isOurs(protocolVersion))
  if (!chosen) throw new InvalidRemote(remote, whyNone(card.supportedInterfaces))
  const { origin } = new URL(remote.url)
  const given = URL.parse(chosen.url)
  if (!given || given.username || given.password || given.origin !== origin)
    throw new InvalidRemote(
      remote,
      `its card names the address ${JSON.stringify(chosen.url.slice(0, 200))}, which is not of ${origin}. If that is right, configure that address.`,
    )
  return { card, chosen }
}

async function getCard(
  remote: Remote,
  { fetch, signal }: { fetch: Fetch; signal: AbortSignal },
): Promise<AgentCard> {
  const url = cardUrl(remote)
  const response = await fetch(url, { signal, headers: { accept: "application/json" } })
  if (!response.ok) {
    await response.body?.cancel()
    throw new InvalidRemote(remote, `${url.href} answers with status ${response.status} instead of a card`)
  }
  const text = await readText(remote, response)
  try {
    if (isTooDeep(text)) throw new Error("it is nested too deep")
    return AgentCard.fromJSON(JSON.parse(text))
  } catch (error) {
    throw new InvalidRemote(remote, `its card cannot be read: ${errorText(error).slice(0, 200)}`)
  }
}

/** The configured address is that of the card, or of the server that has it in the usual place. */
function cardUrl({ url }: Remote): URL {
  const given = new URL(url)
  if (given.pathname.endsWith(".json")) return given
  return new URL(AGENT_CARD_PATH, given.href.replace(/\/?$/, "/"))
}

async function readText(remote: Remote, response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > cardLimit) throw new InvalidRemote(remote, `its card is larger than ${cardLimit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** The third number of a version does not count. */
function isOurs(version: string): boolean {
  return version.split(".").slice(0, 2).join(".") === A2A_PROTOCOL_VERSION
}

function whyNone(interfaces: AgentInterface[]): string {
  const offered = interfaces.map(
    ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
  )
  const shown = offered.join(", ").slice(0, 200) || "nothing"
  return `it does not offer ${binding} ${A2A_PROTOCOL_VERSION}, but ${shown}`
}
