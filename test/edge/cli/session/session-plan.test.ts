// A plan that one process stores, another one compacts, a third one finishes, and that can be shown at any time.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { drawPlan } from "#edge/cli/session/session-plan.ts"
import type * as Session from "#engine/session/session.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { checkWire } from "../../../fixture/wire-rules.ts"

type Status = "pending" | "in_progress" | "done"
const isSummary = ({ system }: Request) => /^You summarise/.test(system)
/** Ten steps; each waits for the two before it. */
const step = (i: number, status: Status = "pending") => ({
  id: `s${i}`,
  text: `Do part ${i}`,
  status,
  after: [i - 2, i - 1].filter((n) => n > 0).map((n) => `s${n}`),
})
const numbers = Array.from({ length: 10 }, (_, i) => i + 1)
const plain = (_: unknown, words: string) => words

test("a plan of ten steps with dependencies survives a compaction and restarts, and is finished", async () => {
  await using tmp = await tmpdir({ git: true })
  // The model works on the last step that its request shows as in progress.
  await using llm = await fakeLlm((request) => {
    if (isSummary(request)) return text("SUMMARY OF THE MODEL")
    const last = request.messages.at(-1)!
    if (/plan it/.test(last.text))
      return call("todo", { title: "Ten parts", todos: numbers.map((i) => step(i)) })
    if (last.results.length) return text(`so far ${"in many words ".repeat(300)}`)
    const i = Number([...request.raw.matchAll(/\[>\] s(\d+): /g)].at(-1)?.[1] ?? 1)
    return calls([
      call("todo", { todos: [step(i, "done"), ...(i < 10 ? [step(i + 1, "in_progress")] : [])] }),
      call("write", { path: `part-${i}.txt`, content: `${i}` }),
    ])
  })
  const { variables } = env(llm, "chat")
  const run = async (...args: string[]) => {
    const { code, out, err } = await vitamin(tmp, args, variables)
    assert.equal(code, 0, err)
    return out
  }
  await run("run", "--mode", "plan", "plan it")
  const id = (await run("session", "list")).split(" ")[0]!
  assert.match(await run("session", "plan"), /^Ten parts, 0 of 10 done {2}sess_/)
  await run("session", "mode", id, "act")
  for (let i = 1; i <= 5; i++) await run("run", "--yes", "--continue", `go on ${i}`)
  assert.match(await run("session", "compact", id), /^compacted: /)
  const half = await run("session", "plan", id)
  assert.match(half, /^Ten parts, 5 of 10 done/)
  assert.match(half, /^├─ \[x\] s5 {2}Do part 5 {2}after s3, s4$/m)
  assert.match(half, /^├─ \[>\] s6 {2}Do part 6 {2}after s4, s5$/m)
  await run("run", "--yes", "--continue", "go on 6")
  const after = llm.requests.findLast(({ messages }) => /go on 6/.test(messages.at(-1)!.text))!
  assert.match(after.raw, /SUMMARY OF THE MODEL/)
  assert.match(
    after.raw,
    /Plan: Ten parts \(5 of 10 done\)\\n\[>\] s6: Do part 6\\n\[ \] s7: Do part 7 \(after s6\)/,
  )
  for (let i = 7; i <= 10; i++) await run("run", "--yes", "--continue", `go on ${i}`)
  assert.match(await run("session", "plan"), /^Ten parts, 10 of 10 done/)
  const plan = JSON.parse(await run("session", "plan", id, "--format", "json")) as Session.Plan
  assert.deepEqual(plan.nodes.find((node) => node.id === "plan:1")?.context, {
    description: "Ten parts",
    status: "done",
  })
  assert.deepEqual(plan.nodes.find((node) => node.id === "file:part-7.txt")?.parents, ["s7"])
  for (const request of llm.requests) checkWire(request)
})

test("vitamin session plan and GET /session/:id/plan agree, also without a plan", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("todo", { todos: [step(1), step(2)] }), text("planned")])
  const { variables } = env(llm, "chat")
  const none = await vitamin(tmp, ["session", "plan"], variables)
  assert.equal(none.code, 2)
  assert.match(none.err, /There is no session in this folder yet/)
  assert.equal((await vitamin(tmp, ["run", "plan"], variables)).code, 0)
  const shown = await vitamin(tmp, ["session", "plan", "--format", "json"], variables)
  const plan = JSON.parse(shown.out) as Session.Plan
  const { child, url, tokenFile } = await serving(tmp, [], variables)
  await using _ = child
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` }
  const answer = await fetch(`${url}/session/${plan.sessionId}/plan`, { headers })
  assert.deepEqual(
    ((await answer.json()) as Session.Plan).nodes.map(({ createdAt: _, ...node }) => node),
    plan.nodes.map(({ createdAt: _, ...node }) => node),
  )
  assert.equal((await fetch(`${url}/session/sess_none/plan`, { headers })).status, 404)
  const missing = await vitamin(tmp, ["session", "plan", "sess_none"], variables)
  assert.equal(missing.code, 1)
  assert.match(missing.err, /Session sess_none does not exist/)
})

test("vitamin session plan has colours in a terminal, unless NO_COLOR says otherwise", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("todo", { todos: [step(1, "done"), step(2)] }), text("planned")])
  assert.equal((await vitamin(tmp, ["run", "plan"], env(llm, "chat").variables)).code, 0)
  const seen = async (more: Record<string, string>) => {
    await using terminal = openTerminal(tmp, ["session", "plan"], { env: more })
    assert.equal(await terminal.exit, 0)
    return terminal.child.lines.join("\n")
  }
  assert.match(await seen({}), /\u001b\[32m\[x\]\u001b\[39m .*Do part 1/)
  const plain = await seen({ NO_COLOR: "1" })
  assert.match(plain, /\[x\] s1 {2}Do part 1/)
  assert.doesNotMatch(plain, /\u001b/)
})

test("drawPlan() escapes control characters of models and files", () => {
  const evil = "\u001b[2Jx\r\ny"
  const node = (id: string, edgeType: string, parents: string[], more: object = {}) => ({
    id,
    parents,
    edgeType,
    context: { description: evil, ...more },
    createdAt: 1,
  })
  const lines = drawPlan(
    {
      sessionId: "s",
      nodes: [
        node("plan:1", "plan", []),
        node("#1", "step", ["plan:1"], { status: "pending" }),
        node("b", "step", ["plan:1", "#1"], { status: "failed" }),
        node("agent:s", "agent", []),
        node("file:x", "file", ["b"], { changes: 2 }),
        node("agent:t", "agent", ["agent:s"], { agent: evil, sessionId: "t", status: "done" }),
      ],
    },
    plain,
  )
  assert.equal(lines.length, 6)
  for (const line of lines) assert.doesNotMatch(line, /\p{Cc}/u)
  assert.match(lines[2]!, /^└─ \[!\] b .* after ".*x y"$/)
  assert.match(lines[3]!, /^ {3}└─ .* 2×$/)
  assert.equal(lines[4], "Outside of the steps:")
})
