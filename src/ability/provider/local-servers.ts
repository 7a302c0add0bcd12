// Finds model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM. They are probed in parallel, only when a
// model has to be chosen, and count as absent without a connection within 50 ms and a proper answer within 250 ms after it.
import type { IncomingMessage } from "node:http"
import { configuredBase, isLoopback, settingsOf } from "#ability/provider/reach/connection.ts"
import { providers } from "#ability/provider/reach/providers.ts"
import type { Info } from "#kernel/schema/schema.ts"

/** Base URLs at which one server may be; several are tried at once. */
export type Place = { providerId: string; baseURLs: string[] }
export type LocalServer = {
  providerId: string
  baseURL: string
  /** Models that can chat. */
  models: string[]
  /** The model to use if nobody chose one. */
  model?: string
}

/** Milliseconds for a connection, and for the whole answer of a server that took it. */
const usualTime = { connect: 50, answer: 250 }
const maxBytes = 1 << 20
const maxModels = 1_000
const ports: [providerId: string, port: number][] = [
  ["ollama", 11_434],
  ["lmstudio", 1_234],
  ["llamacpp", 8_080],
  ["vllm", 8_000],
]
/** Models that such servers also list but that cannot chat. */
const mute = /embed|\bbge\b|minilm|\be5-|\bgte-|rerank|whisper|\btts\b|\bclip\b|moderation|guard/i
const plainId = /^[\w.:/@+-]{1,200}$/
/** Best first. */
const preferred = [
  /coder|codestral|devstral|codellama|starcoder|codegemma/i,
  /instruct|gpt-oss|qwen-?3|llama-?[34]|mistral|gemma-?[34]|phi-?4|glm-4|granite/i,
  /chat|[-_]it\b/i,
]

/** Where to probe: the usual ports of both loopback addresses, or the address that the person configured. */
export function localPlaces(config: Info): Place[] {
  return ports.map(([providerId, port]) => {
    const given = configuredBase(providers[providerId]!, settingsOf(config, providerId))
    if (given === undefined)
      return { providerId, baseURLs: ["127.0.0.1", "[::1]"].map((host) => `http://${host}:${port}/v1`) }
    return { providerId, baseURLs: URL.canParse(given) && isLoopback(given) ? [given] : [] }
  })
}

/** The servers that answer, in the order of the places. */
export async function findLocalServers(places: Place[], within = usualTime): Promise<LocalServer[]> {
  // Loaded before the clock starts. An import would load all that the module exports, undici included.
  const { get } = process.getBuiltinModule("node:http")
  const late = new AbortController()
  // What arrived while this process was busy, as it is at its start, is read before the time counts as up.
  const endAfter = (time: number) => {
    const own = setTimeout(() => setImmediate(() => own === timer && late.abort()), time)
    return own
  }
  let timer = endAfter(within.connect)
  let isConnected = false
  const connected = () => {
    if (isConnected) return
    isConnected = true
    clearTimeout(timer)
    timer = endAfter(within.answer)
  }

  async function ask({ providerId, baseURLs }: Place): Promise<LocalServer | undefined> {
    const answers = await Promise.all(
      baseURLs.map(async (baseURL) => ({ baseURL, ids: await idsAt(providerId, baseURL) })),
    )
    const found = answers.find(({ ids }) => ids !== undefined)
    if (!found) return undefined
    const models = found.ids!.filter((id) => plainId.test(id) && !mute.test(id)).slice(0, maxModels)
    const model = bestOf(models)
    return { providerId, baseURL: found.baseURL, models, ...(model ? { model } : {}) }
  }

  async function idsAt(providerId: string, baseURL: string): Promise<string[] | undefined> {
    const isOllama = providerId === "ollama"
    const url = isOllama ? new URL("/api/tags", baseURL).href : `${baseURL.replace(/\/+$/, "")}/models`
    const body = await new Promise<string | undefined>((resolve) => {
      const request = get(url, { signal: late.signal, agent: false }, (response) => {
        readBody(response).then(resolve, () => resolve(undefined))
      })
      request.on("error", () => resolve(undefined))
      request.on("socket", (socket) => {
        socket.once("connect", connected)
      })
    })
    return body === undefined ? undefined : isOllama ? tagsIn(body) : modelsIn(body)
  }

  try {
    return (await Promise.all(places.map(ask))).filter((server) => server !== undefined)
  } finally {
    clearTimeout(timer)
  }
}

function bestOf(models: string[]): string | undefined {
  for (const names of preferred) {
    const found = models.find((id) => names.test(id))
    if (found) return found
  }
  return models[0]
}

async function readBody(response: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    if (response.statusCode !== 200 || !/\bjson\b/.test(response.headers["content-type"] ?? ""))
      return undefined
    for await (const part of response) {
      bytes += (part as Buffer).length
      if (bytes > maxBytes) return undefined
      parts.push(part as Buffer)
    }
    return Buffer.concat(parts).toString("utf8")
  } finally {
    response.destroy()
  }
}

/** Ollama's `{ models: [{ name }] }`. */
function tagsIn(body: string): string[] | undefined {
  return namesOf((parse(body) as { models?: unknown } | undefined)?.models, "name")
}

/** OpenAI's `{ object: "list", data: [{ id }] }`. Anything may listen on port 8080. */
function modelsIn(body: string): string[] | undefined {
  const { object, data } = (parse(body) ?? {}) as { object?: unknown; data?: unknown }
  return object === "list" ? namesOf(data, "id") : undefined
}

function namesOf(list: unknown, key: "name" | "id"): string[] | undefined {
  if (!Array.isArray(list)) return undefined
  const names = list.map((item: Record<string, unknown> | null) => item?.[key])
  return names.every((name): name is string => typeof name === "string") ? names : undefined
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
