// What rules may take of a model's window.
import assert from "node:assert/strict"
import { test } from "node:test"
import { inform } from "#engine/context/inform.ts"
import { rulesBudget } from "#engine/context/rules-budget.ts"
import { settle } from "#engine/record/append.ts"
import { createProgress } from "#engine/run/run.ts"
import { cutToTokens } from "#knowledge/memory/cut-to-tokens.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { inWorld } from "../session/harness.ts"

test("rules have a tenth of a small window, and no more than is good to read of a large one", async () => {
  await inWorld([], async ({ session }) => {
    const of = (context: number) => rulesBudget(session.id, { context })
    assert.deepEqual(of(32_000), { linked: 800, nested: 3_200, each: 1_600 })
    assert.deepEqual(of(37_000), { linked: 925, nested: 3_700, each: 1_850 })
    const most = { linked: 2_000, nested: 8_000, each: 4_000 }
    for (const context of [80_000, 200_000, 1_000_000]) assert.deepEqual(of(context), most)
    assert.deepEqual(rulesBudget(session.id), most)
    assert.deepEqual(of(0), most)
  })
})

test("what the window has of rules counts, and half is kept for those beside files", async () => {
  await inWorld([], async ({ session }) => {
    const run = { session, progress: createProgress(Memory.begin(session.id)) }
    const facts = { context: 32_000 }
    const text = "Every word of this counts a little. ".repeat(60)
    let spent = 0
    for (let i = 0; i < 20 && rulesBudget(session.id, facts).linked > 0; i++) {
      const before = rulesBudget(session.id, facts).nested
      inform(run, [{ kind: "rule", name: `docs/${i}.md`, text: cutToTokens(text, 700) }])
      spent += before - rulesBudget(session.id, facts).nested
    }
    assert.ok(spent > 1_600 - 700 && spent < 1_600 + 700, `${spent}`)
    assert.equal(rulesBudget(session.id, facts).nested, 3_200 - spent)
    inform(run, [{ kind: "skill", name: "other", text }])
    assert.equal(rulesBudget(session.id, facts).nested, 3_200 - spent)
    inform(run, [{ kind: "rule", name: "src/AGENTS.md", text: text.repeat(10) }])
    assert.deepEqual(rulesBudget(session.id, facts), { linked: 0, nested: 0, each: 1_600 })
    await settle(run.progress.records)
    Memory.rest(session.id)
  })
})
