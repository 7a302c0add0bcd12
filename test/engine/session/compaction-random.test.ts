// Random sessions, stopped, forked, reverted, branched and compacted at random points: each request is valid for its
// provider, and has the person's text and the current work.
import assert from "node:assert/strict"
import { test } from "node:test"
import { historyOf } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"
import { type Request, status, text } from "../../fixture/fake-llm.ts"
import { repeat } from "../../fixture/soak.ts"
import { checkWire } from "../../fixture/wire-rules.ts"
import type { World } from "./harness.ts"
import { inPatientWorld } from "./patient.ts"
import { type Choices, createChoices, createPieces, mustHave } from "./random-messages.ts"

const sessions = repeat(24, 1_000)
const first = Number(process.env.VITAMIN_SOAK_SEED ?? 1)
const context = 30_000
const limits = { context, output: 2_000, input: ["text", "image"], reasoning: true }
const config = {
  provider: {
    openai: { models: { "chat-model": limits, "responses-model": { ...limits, api: "responses" } } },
    anthropic: { models: { "fake-model": limits } },
    google: { models: { "fake-model": limits } },
  },
}
const models = ["openai/chat-model", "openai/responses-model", "anthropic/fake-model", "google/fake-model"]

test(`requests of ${sessions} random sessions with compactions are valid in all four wire forms and have all pins`, async () => {
  let random = createChoices(0)
  const summarised = { model: 0, extract: 0, cut: 0 }
  compared = 0
  const script = (request: Request) => {
    const input = Math.ceil(request.raw.length / 4)
    if (!/^You summarise/.test(request.system)) return text("ok", { usage: { input, output: 5 } })
    return random.chance(0.5) ? text("What was done.") : status(400, { message: "no summary today" })
  }
  await inPatientWorld(
    script,
    async (world) => {
      const key = "fake-llm-key-0123456789"
      Object.assign(process.env, {
        OPENAI_BASE_URL: `${world.llm.url}/v1`,
        ANTHROPIC_BASE_URL: world.llm.url,
        ANTHROPIC_API_KEY: key,
        GOOGLE_GEMINI_BASE_URL: world.llm.url,
        GOOGLE_GENERATIVE_AI_API_KEY: key,
      })
      for (let seed = first; seed < first + sessions; seed++) {
        random = createChoices(seed)
        try {
          for (const by of await live(world, random)) summarised[by as keyof typeof summarised]++
        } catch (error) {
          throw new Error(`with seed ${seed}: ${error instanceof Error ? error.message : error}`, {
            cause: error,
          })
        }
      }
    },
    { config },
  )
  // Every kind of compaction occurred.
  for (const [by, count] of Object.entries(summarised)) assert.ok(count > 0, `no compaction by ${by}`)
  assert.ok(compared > sessions / 2, `${compared} requests were compared with those of a whole read`)
})

/** The number of requests that were compared with those after reading the whole session. */
let compared = 0

/** Claims a session like a process that died. */
async function leave(sessionId: string): Promise<void> {
  const { kept } = await SessionRecord.claim(sessionId)
  await kept
}

/** One random session, ending with a request in every wire form. Returns how it was compacted. */
async function live(world: World, random: Choices): Promise<string[]> {
  let { id } = await Session.create({ model: random.pick(models) })
  const pieces = createPieces(random)
  for (let step = 2 + random.below(10); step > 0; step--) {
    const session = await Session.get(id)
    const path = await historyOf(id, session.branch)
    const place = { sessionId: id, branch: session.branch, parentId: path.at(-1)?.id ?? null }
    const some = path.length ? random.pick(path).id : undefined
    const deed = random.below(100) / 100
    if (deed < 0.5 || !some) {
      await leave(id)
      await pieces.exchange(place)
    } else if (deed < 0.65) await Session.compact(id)
    else if (deed < 0.72) id = (await Session.fork(id, some)).id
    else if (deed < 0.79) await Session.revert(id, some, { force: true })
    else if (deed < 0.84) await Session.branch(id, `b${step}`, { from: some })
    else await checked(world, id, random.pick(models))
  }
  for (const model of models) await checked(world, id, model)
  const all = await Session.messages(id, { all: true })
  await Session.remove(id)
  return all.flatMap(byOf)
}

async function checked(world: World, sessionId: string, model: string): Promise<void> {
  const { tip } = await Session.get(sessionId)
  const requests = await asked(world, sessionId, model)
  for (const request of requests) checkWire(request)
  const last = requests.at(-1)
  assert.ok(last!.raw.length / 4 < context, "the request is longer than the window")
  const { branch } = await Session.get(sessionId)
  const words = JSON.stringify(last!.body)
  for (const item of mustHave(await historyOf(sessionId, branch)))
    assert.ok(words.includes(item), `${JSON.stringify(item)} is not in the request to ${model}`)
  if (tip) await compare(world, { sessionId, model, requests })
}

async function asked({ ask, llm }: World, sessionId: string, model: string): Promise<Request[]> {
  const from = llm.requests.length
  await ask(`ask ${model}`, { sessionId, model })
  return llm.requests.splice(from)
}

/** Sends the same prompt at the same place again. After a revert the tip of the branch is unknown, so the whole session
 * is read. */
async function compare(
  world: World,
  { sessionId, model, requests }: { sessionId: string; model: string; requests: Request[] },
): Promise<void> {
  const path = await historyOf(sessionId, (await Session.get(sessionId)).branch)
  const words = path.findLastIndex((message) => message.type === "text" && message.data.role === "user")
  // A second summary may differ.
  if (path.slice(words).some((message) => byOf(message).length)) return
  await Session.revert(sessionId, path[words]!.id, { force: true })
  assert.equal((await Session.get(sessionId)).tip, undefined)
  const again = await asked(world, sessionId, model)
  assert.deepEqual(
    again.map(({ body }) => body),
    requests.map(({ body }) => body),
  )
  compared++
}

function byOf(message: Message.Info): string[] {
  if (message.type !== "system_control" || message.data.control !== "compaction") return []
  const { by, tokensBefore, tokensAfter } = message.data.parameters
  assert.ok(Number(tokensAfter) < Number(tokensBefore), `${tokensBefore} tokens became ${tokensAfter}`)
  return [String(by)]
}
