// Random sessions, stopped, forked, taken back, branched and compacted at random points: whatever became of them, each
// request is one that its provider takes, and has in it what the person said and what is at work.
import assert from "node:assert/strict"
import { test } from "node:test"
import { historyOf } from "#engine/session/history.ts"
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

test(`Requests of ${sessions} random sessions that are compacted anywhere are valid in all four forms and lose no pin`, async () => {
  let random = createChoices(0)
  const summarised = { model: 0, extract: 0, cut: 0 }
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
  // Each kind has been there.
  for (const [by, count] of Object.entries(summarised)) assert.ok(count > 0, `no compaction by ${by}`)
})

/** One session from its beginning to a request in every form. Gives how it was compacted. */
async function live(world: World, random: Choices): Promise<string[]> {
  let { id } = await Session.create({ model: random.pick(models) })
  const pieces = createPieces(random)
  for (let step = 2 + random.below(10); step > 0; step--) {
    const session = await Session.get(id)
    const path = await historyOf(id, session.branch)
    const place = { sessionId: id, branch: session.branch, parentId: path.at(-1)?.id ?? null }
    const some = path.length ? random.pick(path).id : undefined
    const deed = random.below(100) / 100
    if (deed < 0.5 || !some) await pieces.exchange(place)
    else if (deed < 0.65) await Session.compact(id)
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

async function checked({ ask, llm }: World, sessionId: string, model: string): Promise<void> {
  const from = llm.requests.length
  await ask(`ask ${model}`, { sessionId, model })
  const [last, ...others] = llm.requests.splice(from).reverse()
  for (const request of [last!, ...others]) checkWire(request)
  assert.ok(last!.raw.length / 4 < context, "the request is longer than the window")
  const { branch } = await Session.get(sessionId)
  const words = JSON.stringify(last!.body)
  for (const item of mustHave(await historyOf(sessionId, branch)))
    assert.ok(words.includes(item), `${JSON.stringify(item)} is not in the request to ${model}`)
}

function byOf(message: Message.Info): string[] {
  if (message.type !== "system_control" || message.data.control !== "compaction") return []
  const { by, tokensBefore, tokensAfter } = message.data.parameters
  assert.ok(Number(tokensAfter) < Number(tokensBefore), `${tokensBefore} tokens became ${tokensAfter}`)
  return [String(by)]
}
