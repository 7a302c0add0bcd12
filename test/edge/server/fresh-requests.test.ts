// A server caches the history of a session between prompts. Each of its requests to the model equals, byte by byte, the one
// that a fresh process sends for the same history, whatever happened to the session since the last prompt.
import assert from "node:assert/strict"
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { apiOf } from "../../fixture/api-of.ts"
import { serving } from "../../fixture/cli.ts"
import {
  call,
  calls,
  type FakeLlm,
  fakeLlm,
  type Request,
  reasoning,
  type Script,
  stall,
  status,
  text,
} from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

type Api = ReturnType<typeof apiOf>
type Prompt = { text: string; model: string } & Record<string, unknown>
type World = { tmp: Tmp; llm: FakeLlm; variables: Record<string, string>; api: Api; compared: number }

const steps = 24
const first = Number(process.env.VITAMIN_SOAK_SEED ?? 1)
const limits = { context: 30_000, output: 2_000, reasoning: true }
const seeing = { ...limits, input: ["text", "image"] }
const models = ["openai/sees", "openai/also-sees", "openai/reads", "anthropic/sees", "anthropic/reads"]

for (const seed of Array.from({ length: repeat(1, 60) }, (_, i) => first + i))
  test(`a served session sends the requests of a process per prompt (seed ${seed})`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm(script)
    const variables = variablesFor(llm)
    const server = await serving(tmp, [], variables)
    await using _ = server.child
    const world = { tmp, llm, variables, api: apiOf(server), compared: 0 }
    await play(world, createRandom(seed))
    assert.ok(world.compared >= steps / 3, `${world.compared} prompts were compared`)
  })

/** The prompt says what the model does. */
const script: Script = (request) => {
  const usage = { usage: { input: Math.ceil(request.raw.length / 4), output: 5 } }
  if (/^You summarise/.test(request.system)) return text("What was done before.", usage)
  const [, kind] = request.raw.match(/.*\bdo (\w+)/s) ?? []
  if (kind === "fail") return status(400, { message: "not today" })
  if (kind === "stop") return stall(text("words ".repeat(50), { deltas: 50 }), 900)
  const sincePrompt = request.raw.slice(request.raw.lastIndexOf(`do ${kind}`))
  const isAnswered = /"role":"tool"|"type":"tool_result"/.test(sincePrompt)
  if (kind === "read" && !isAnswered)
    return reasoning(
      "hm",
      calls(
        [
          call("read", { path: "a.txt" }, { id: "same" }),
          call("glob", { pattern: "*.none" }, { id: "same2" }),
        ],
        usage,
      ),
    )
  return reasoning("so", text(`Here is an image of a note with four lines about tea, done: ${kind}.`, usage))
}

async function play(world: World, random: (below: number) => number): Promise<void> {
  const { api, tmp } = world
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!
  tmp.write("note.png", image("note.png"))
  tmp.write("a.txt", "line of the file\n")
  let id: string = (await api("POST", "/session", {})).body.id
  let model = pick(models)
  for (let step = 0; step < steps; step++) {
    const { body: messages } = await api("GET", `/session/${id}/message`)
    const some: string | undefined = messages.length ? pick<{ id: string }>(messages).id : undefined
    const deed = random(16)
    if (random(4) === 0) model = pick(models)
    if (random(3) === 0) tmp.write("a.txt", `line ${step} of the file\n`.repeat(1 + random(200)))
    if (deed === 0) id = (await api("POST", `/session/${id}/fork`, some ? { messageId: some } : {})).body.id
    else if (deed === 1 && some) await api("POST", `/session/${id}/revert`, { messageId: some, force: true })
    else if (deed === 2 && some) await api("POST", `/session/${id}/branch`, { name: `b${step}`, from: some })
    else if (deed === 3 && some) await api("POST", `/session/${id}/branch`, { name: "main" })
    else if (deed === 4) await api("POST", `/session/${id}/compact`)
    else if (deed === 5) await elsewhere(world, id, { text: `step ${step} do say`, model })
    else await compare(world, id, { ...promptOf(step, random), model })
  }
}

function promptOf(step: number, random: (below: number) => number) {
  const kind = ["say", "say", "read", "read", "fail", "stop"][random(6)]
  const file = random(3) === 0 ? " @a.txt" : ""
  return {
    text: `step ${step}${file} do ${kind}`,
    asks: "deny",
    ...(random(4) === 0 ? { refresh: true } : {}),
    ...(random(6) === 0 ? { parts: [{ type: "image", source: { kind: "file", value: "note.png" } }] } : {}),
  }
}

/** Runs the prompt in a fresh process on a copy of the records, then on the server. */
async function compare(world: World, id: string, prompt: Prompt): Promise<void> {
  const { tmp, api, llm } = world
  const copied = { XDG_DATA_HOME: "dat2", XDG_STATE_HOME: "stat2" }
  const root = join(tmp.path, "..")
  const paths = Object.entries(copied).map(([name, folder]) => [name, join(root, folder)] as const)
  for (const [name, path] of paths) {
    rmSync(path, { recursive: true, force: true })
    cpSync(tmp.env[name]!, path, { recursive: true })
  }
  const from = llm.requests.length
  await elsewhere(world, id, prompt, Object.fromEntries(paths))
  const alone = llm.requests.splice(from)
  await send(world, { api, id, prompt })
  const served = llm.requests.splice(from)
  const raw = (requests: Request[]) =>
    requests.map(({ raw }) =>
      paths.reduce((text, [name, path]) => text.replaceAll(path, tmp.env[name]!), raw),
    )
  assert.deepEqual(raw(served), raw(alone), JSON.stringify(prompt))
  if (served.length) world.compared++
}

/** Runs the prompt in a fresh process. */
async function elsewhere(world: World, id: string, prompt: Prompt, more = {}): Promise<void> {
  const server = await serving(world.tmp, [], { ...world.variables, ...more })
  await using _ = server.child
  await send(world, { api: apiOf(server), id, prompt })
}

/** A prompt that is to be stopped is stopped during its first answer. */
async function send(
  { llm }: World,
  { api, id, prompt }: { api: Api; id: string; prompt: Prompt },
): Promise<void> {
  const from = llm.requests.length
  const answered = api("POST", `/session/${id}/message`, prompt)
  if (prompt.text.endsWith("do stop")) {
    await until(() => llm.requests.length > from, "the request")
    await api("POST", `/session/${id}/abort`)
  }
  const { status, body } = await answered
  assert.ok(![400, 404].includes(status), JSON.stringify(body))
}

function variablesFor({ url }: FakeLlm): Record<string, string> {
  const key = "fake-llm-key-0123456789"
  const provider = {
    openai: {
      baseURL: `${url}/v1`,
      models: { sees: seeing, "also-sees": seeing, reads: { ...limits, input: ["text"] } },
    },
    anthropic: { baseURL: `${url}/v1`, models: { sees: seeing, reads: { ...limits, input: ["text"] } } },
  }
  return {
    OPENAI_API_KEY: key,
    ANTHROPIC_API_KEY: key,
    VITAMIN_MODEL: "openai/sees",
    VITAMIN_CONFIG: JSON.stringify({ provider }),
  }
}
