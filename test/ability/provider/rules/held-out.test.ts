// Requests that were written before the rules that answer them, in a real git project with the real tools: which
// tools are called, how the answer ends, and that no file changes unless the request says so literally.
import assert from "node:assert/strict"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { parseJsonc } from "#util/parse/jsonc.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { free, inProject } from "../../tool/harness.ts"
import { type Driven, drive } from "./measure.ts"
import { fillTeaShop, snapshot } from "./tea-shop.ts"

type Files = Record<string, string | null>
type Held = [request: string, wanted: string | string[], after?: Files]

const text = readFileSync(new URL("held-out.jsonc", import.meta.url), "utf8")
const list = parseJsonc(`{ "list": ${text} }`, "held-out.jsonc").value.list as Held[]

test(`local/rules uses the right tools for three of four of ${list.length} unseen requests, and changes nothing unasked`, async (t) => {
  const tally = { right: 0, tools: 0, rightTools: 0 }
  await inTeaShop(async (ask) => {
    for (const [request, wanted, after = {}] of list) {
      const { driven, changed } = await ask(request)
      for (const [name, now] of Object.entries(changed))
        assert.equal(now?.trimEnd(), after[name]?.trimEnd(), `${request}: ${name}`)
      const isDone = Object.keys(after).every((name) => name in changed)
      const isRight = isDone && fits(wanted, driven)
      if (Array.isArray(wanted)) tally.tools++
      if (Array.isArray(wanted) && isRight) tally.rightTools++
      if (isRight) tally.right++
      else t.diagnostic(`${request} → ${JSON.stringify(driven.made)}, ${driven.finish}`)
    }
  })
  t.diagnostic(JSON.stringify(tally))
  assert.ok(tally.rightTools / tally.tools >= 0.75, JSON.stringify(tally))
  assert.ok(tally.right / list.length >= 0.75, JSON.stringify(tally))
})

type Ask = (request: string) => Promise<{ driven: Driven; changed: Files }>

/** What each request does to the project, which is as it was before each of them. */
async function inTeaShop(fn: (ask: Ask) => Promise<void>): Promise<void> {
  const run = async (tmp: Tmp) => {
    fillTeaShop(tmp)
    const before = snapshot(tmp.path)
    let asked = 0
    await fn(async (request) => {
      const driven = await drive(request, { slots: free, sessionId: `ses_${++asked}` })
      const now = snapshot(tmp.path)
      const changed: Files = {}
      for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
        if (before[name] === now[name]) continue
        changed[name] = now[name] ?? null
        if (before[name] === undefined) rmSync(join(tmp.path, name))
        else tmp.write(name, before[name])
      }
      return { driven, changed }
    })
  }
  await inProject(run, { git: true })
}

/** One of the calls that are right was made; or none, with an end that says why. */
function fits(wanted: string | string[], { made, finish }: Driven): boolean {
  if (typeof wanted === "string") return !made.length && finish === (wanted === "cannot" ? "cannot" : "stop")
  return wanted.some((one) => {
    const [, name, pattern, flags] = /^(\w+) \/(.*)\/(\w*)$/.exec(one)!
    const input = new RegExp(pattern!, flags)
    return made.some(({ tool, arguments: args }) => tool === name && input.test(JSON.stringify(args)))
  })
}
