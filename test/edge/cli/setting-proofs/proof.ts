// How a test proves that a configuration key has an effect: the built command runs twice, with the key and without it
// (or with another value), and only the first run may show the expected effect. A key without a reader fails: both runs
// would be the same.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { vitamin } from "../../../fixture/cli.ts"
import { type FakeLlm, fakeLlm, type Script, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Json = Record<string, unknown>
export type Outcome = { code: number | string; out: string; err: string }
/** `web` is another server: it records requests and answers 401, but never answers a path that begins with /slow. */
export type World = {
  tmp: Tmp
  llm: FakeLlm
  web: { url: string; requests: { path: string; headers: IncomingHttpHeaders }[] }
  /** A file outside of the project. */
  outside: (name: string) => string
}
export type Proof = {
  config: (world: World) => Json
  /** Commands in order. The result of the last one is checked. */
  commands?: string[][] | ((world: World) => string[][])
  /** The value of the second run, for a key that is required. */
  other?: unknown
  model?: Script
  env?: Record<string, string>
  prepare?: (world: World) => void | Promise<void>
  perform?: (world: World, env: Record<string, string>) => Promise<Outcome>
  seen: (world: World, outcome: Outcome) => unknown
  expected: unknown
}

/** Source code for a value that JSON cannot express, such as a hook. */
export class Code {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Checks the proof of one key, as `provider.*.headers` or `mcp.servers[].url`. */
export async function prove(key: string, proof: Proof): Promise<void> {
  // Side by side: each run waits for a process most of the time, and has folders and servers of its own.
  const [first, second] = await Promise.all([
    observe(key, proof, (config) => config),
    observe(key, proof, (config) => replaced(config, key, proof.other)),
  ])
  assert.deepEqual(
    first.seen,
    proof.expected,
    `${key} has no effect:\n${first.outcome.out}${first.outcome.err}`,
  )
  assert.notDeepEqual(second.seen, proof.expected, `what is seen does not depend on ${key}`)
}

async function observe(key: string, proof: Proof, change: (config: Json) => Json) {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(proof.model ?? (() => text("Fine.")))
  await using web = await recordingServer()
  const world = { tmp, llm, web, outside: (name: string) => join(dirname(tmp.path), name) }
  mkdirSync(tmp.env.HOME!, { recursive: true })
  await proof.prepare?.(world)
  const config = change(proof.config(world))
  const variables = { ...proof.env, VITAMIN_CONFIG: written(world, config) }
  const given = proof.commands ?? [["run", "hello"]]
  let outcome: Outcome = { code: "", out: "", err: `${key} was not tried` }
  if (proof.perform) outcome = await proof.perform(world, variables)
  else
    for (const args of typeof given === "function" ? given(world) : given)
      outcome = await vitamin(tmp, args, variables)
  return { outcome, seen: proof.seen(world, outcome) }
}

function written({ outside }: World, config: Json): string {
  const parts: string[] = []
  const json = JSON.stringify(config, (_, value) =>
    value instanceof Code ? `code ${parts.push(value.text) - 1}` : value,
  )
  if (parts.length === 0) return json
  const source = json.replace(/"code (\d+)"/g, (_, i: string) => parts[Number(i)]!)
  const file = outside("config.ts")
  writeFileSync(file, `import { appendFileSync } from "node:fs"\nexport default ${source}\n`)
  return file
}

/** A copy with this value at the key; undefined removes the key. `*` is the first name, `[]` the first item. */
function replaced(config: Json, key: string, value: unknown): Json {
  const copy = copyOf(config) as Json
  const steps = key.replaceAll("[]", ".0").split(".")
  let at = copy
  for (const step of steps.slice(0, -1)) {
    const name = step === "*" ? Object.keys(at).find((one) => typeof at[one] === "object")! : step
    at[name] ??= {}
    at = at[name] as Json
  }
  const last = steps.at(-1) === "*" ? Object.keys(at)[0]! : steps.at(-1)!
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf)
  if (typeof value !== "object" || value === null || value instanceof Code) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyOf(item)]))
}

async function recordingServer() {
  const requests: World["web"]["requests"] = []
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers })
    if (!request.url?.startsWith("/slow")) response.writeHead(401).end("{}")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
