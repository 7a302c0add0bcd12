// Random work on a branched session with jumping clocks, compared with a plain list of texts per branch.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import type * as Message from "#knowledge/message/message.ts"
import { text } from "../../fixture/fake-llm.ts"
import { repeat } from "../../fixture/soak.ts"
import { inWorld, textOf, type World } from "./harness.ts"

const wordsOf = (messages: Message.Info[]) =>
  messages.flatMap((message) => (message.type === "text" ? [textOf(message)] : []))

/** Pseudorandom numbers from 0 to `n` - 1 for a seed. */
function createDice(seed: number) {
  let state = seed
  return (n: number) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) % n
  }
}

for (const seed of Array.from({ length: repeat(3, 100) }, (_, i) => i + 1))
  test(`every branch keeps its own history through prompts, branches, switches and reverts (seed ${seed})`, async (t) => {
    const roll = createDice(seed)
    const real = Date.now
    t.mock.method(Date, "now", () => real() - roll(3) * 1_000_000)
    await inWorld(
      (_, turn) => text(`a${turn}`),
      (world) => play(world, roll),
    )
  })

async function play({ session, ask, llm, messages }: World, roll: (n: number) => number): Promise<void> {
  const expected = new Map<string, string[]>([["main", []]])
  /** The texts up to and including each message. */
  const upTo = new Map<string, string[]>()
  let active = "main"
  const isText = (message: Message.Info) => message.type === "text"
  const steps = [prompt, prompt, prompt, branch, change, revert, mode]
  for (let i = 0; i < 40; i++) {
    await steps[roll(steps.length)]!(i)
    for (const [name, words] of expected)
      assert.deepEqual(
        wordsOf(await Session.messages(session.id, { branch: name })),
        words,
        `step ${i}, ${name}`,
      )
  }
  const names = (await Session.branches(session.id)).map(({ name }) => name)
  assert.deepEqual(names.sort(), [...expected.keys()].sort())
  const wanted = expected.get(active)!
  const fork = await Session.fork(session.id)
  assert.deepEqual(wordsOf(await Session.messages(fork.id)), wanted)

  async function prompt(i: number) {
    const words = [...expected.get(active)!, `q${i}`]
    const answer = await ask(`q${i}`)
    // Two prompts in a row are sent as one message.
    assert.equal(
      llm.requests
        .at(-1)!
        .messages.map((message) => message.text)
        .join(""),
      words.join(""),
    )
    expected.set(active, [...words, textOf(answer)])
    const said = (await messages()).filter(isText)
    for (const [at, { id }] of said.entries()) upTo.set(id, wordsOf(said.slice(0, at + 1)))
  }

  async function branch(i: number) {
    const from = [...upTo.keys()][roll(upTo.size + 1)]
    await Session.branch(session.id, `b${i}`, { from })
    expected.set(`b${i}`, from === undefined ? expected.get(active)! : upTo.get(from)!)
    active = `b${i}`
  }

  async function change() {
    active = [...expected.keys()][roll(expected.size)]!
    await Session.switchBranch(session.id, active)
  }

  async function revert() {
    const said = (await messages()).filter(isText)
    const at = roll(said.length + 1)
    if (!said[at]) return
    await Session.revert(session.id, said[at].id)
    expected.set(active, wordsOf(said.slice(0, at)))
  }

  async function mode(i: number) {
    await Session.setMode(session.id, i % 2 ? "plan" : "act")
  }
}
