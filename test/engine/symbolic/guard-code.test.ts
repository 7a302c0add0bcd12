// Guards in TypeScript do what the same guards do as data.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createProgram, type Problem } from "#engine/symbolic/create-program.ts"
import type { Guard } from "#engine/symbolic/guard.ts"
import { actionOf, plainEvent } from "#engine/symbolic/guard-event.ts"
import { configuredGuards, loadGuards } from "#engine/symbolic/load-guards.ts"
import { Instance } from "#kernel/instance.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { deed, randomEvent } from "./random-events.ts"

const because = "x"
const data = {
  tested: { when: "edit.done", block: "answer", until: "bash.done:npm test", because },
  once: { block: "write:*.md", until: ["read.done:*.md", "prompt"], because },
  frozen: { when: "bash.failed:deploy", block: ["bash", "edit"], until: "prompt", because },
}
const files = {
  "rules.ts": `import { bSync, bThread } from "vitamin/behavioral"
export const tested = { because: "x", thread: bThread([
  bSync({ waitFor: "edit.done" }), bSync({ block: "answer", waitFor: "bash.done:npm test" }),
], true) }\n`,
  "generators.ts": `export const once = { because: "x", *thread() {
  yield { block: "write:*.md", waitFor: ["read.done:*.md", "prompt"] }
} }\n`,
  "functions.ts": `export const frozen = { because: "x", *thread() {
  for (;;) {
    yield { waitFor: ({ type, detail }) => type === "bash.failed" && detail.target === "deploy" }
    yield { block: [({ type }) => type === "bash", "edit"], waitFor: "prompt" }
  }
} }\n`,
  "requests.ts": `export const ticks = { because: "x", *thread() {
  yield { request: { type: "tick" } }
  yield { block: "bash" }
} }\n`,
}

async function withFiles(names: readonly (keyof typeof files)[], work: (guards: readonly Guard[]) => void) {
  await using tmp = await tmpdir()
  for (const name of names) tmp.write(`../config/vitamin/guards/${name}`, files[name])
  await Instance.provide({ directory: tmp.path, fn: async () => work(await loadGuards()) })
  await Instance.disposeAll()
}

const fail = ({ guard, message }: Problem) => assert.fail(`${guard}: ${message}`)

const times = repeat(40, 1_000)
test(`guards in TypeScript block what the same guards block as data (${times} random sessions)`, async () => {
  let blocked = 0
  await withFiles(["rules.ts", "generators.ts", "functions.ts"], (guards) => {
    assert.deepEqual(guards.map(({ name }) => name).sort(), Object.keys(data).sort())
    for (let seed = 1; seed <= times; seed++) {
      const random = createRandom(seed)
      const programs = [createProgram(guards, fail), createProgram(configuredGuards(data), fail)]
      for (let step = 0; step < 40; step++) {
        const { event, isFact } = randomEvent(random)
        if (isFact) for (const { tell } of programs) tell(event)
        const [ours, plain] = isFact ? [[], []] : programs.map(({ offer }) => offer(event).map(nameOf).sort())
        assert.deepEqual(ours, plain, `seed ${seed}, step ${step}`)
        blocked += ours!.length
      }
    }
  })
  assert.ok(blocked > times, `${blocked}`)
})

const nameOf = ({ guard }: { guard: string }) => guard
const command = () => actionOf(deed("bash", "bash.execute:npm test"))

test("a guard whose request waits for other guards goes on when they let it", async () => {
  await withFiles(["requests.ts"], (guards) => {
    const held = { block: "tick", until: "prompt", because }
    const { offer, tell } = createProgram([...configuredGuards({ held }), ...guards], fail)
    assert.deepEqual(offer(command()), [])
    tell(plainEvent("prompt"))
    assert.deepEqual(offer(command()).map(nameOf), ["ticks"])
  })
})
