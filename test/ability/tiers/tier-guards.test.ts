import assert from "node:assert/strict"
import { test } from "node:test"
import { createTierProgram, type TierEvent } from "#ability/tiers/tier-guards.ts"

const alphabet: { type: TierEvent; detail?: number }[] = [
  { type: "static" },
  { type: "static.error" },
  { type: "static.passed" },
  { type: "judge" },
  { type: "judge.skipped" },
  { type: "judge.passed", detail: 0.9 },
  { type: "judge.passed", detail: 0.1 },
  { type: "judge.passed", detail: Number.NaN },
  { type: "browser" },
]

test("in every sequence of five events, no tier starts before the earlier passed", () => {
  let sequences = 0
  const follow = (events: typeof alphabet) => {
    if (events.length === 5) return check(events)
    for (const event of alphabet) follow([...events, event])
  }
  follow([])
  assert.equal(sequences, alphabet.length ** 5)

  function check(events: typeof alphabet): void {
    sequences++
    const program = createTierProgram()
    const happened: string[] = []
    for (const event of events) {
      if (!program.trigger(event).selected) continue
      const isPassed = happened.includes("static.passed")
      if (event.type === "judge" || event.type === "browser") assert.ok(isPassed)
      if (event.type === "browser")
        assert.ok(happened.includes("judge.passed") || happened.includes("judge.skipped"))
      if (event.type === "static.passed") assert.ok(!happened.includes("static.error"))
      if (event.type === "judge.passed") assert.equal(event.detail, 0.9)
      happened.push(event.type)
    }
  }
})
