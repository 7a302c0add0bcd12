// `vitamin guard explain` and `simulate` in the installed command, on a session that a scripted model has run.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { running } from "./running.ts"

const guards = {
  "tests-before-answer": { command: "sh check.sh" },
  "no-docs": { block: "file.write:docs/**", because: "the documents <are> generated" },
}

/** The model writes documents and finishes too early, and is held back both times. */
async function runSession(tmp: Tmp): Promise<void> {
  tmp.write("check.sh", "true\n")
  await using llm = await fakeLlm([
    call("write", { path: "docs/a.md", content: "x" }),
    call("write", { path: "a.txt", content: "one\n" }),
    text("Finished."),
    call("bash", { command: "sh check.sh" }),
    text("All good."),
  ])
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ guards }) }
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], variables)
  assert.equal(code, 0, err)
}

test("guard explain lists what was blocked, by which guard and why, and draws a timeline", async () => {
  await using tmp = await tmpdir({ git: true })
  await runSession(tmp)
  const { code, out, err } = await vitamin(tmp, ["guard", "explain", "--svg", "timeline.svg"])
  assert.equal(code, 0, err)
  const [docs, answer, last, ...rest] = out.split("\n")
  assert.match(
    docs!,
    /^\d{4}-\d\d-\d\d \d\d:\d\d {2}write:docs\/a\.md was blocked by "no-docs": the documents <are> generated/,
  )
  assert.match(answer!, / {2}answer was blocked by "tests-before-answer": .*the tests have not passed/)
  assert.match(last!, /^\d+ events, 2 blocked$/)
  assert.deepEqual(rest, [])
  const svg = readFileSync(join(tmp.path, "timeline.svg"), "utf8")
  assert.match(svg, /^<svg [^>]*>/)
  assert.equal(svg.match(/class="cross"/g)?.length, 2)
  assert.match(
    svg,
    />no-docs<\/text>[\s\S]*<title>write:docs\/a\.md [^<]*the documents &#60;are&#62; generated<\/title>/,
  )
})

test("guard explain names each guard that held back an answer, and draws names as they are", async () => {
  await using tmp = await tmpdir({ git: true })
  const odd = `b, "c" <d> & \u0007\uFFFF\uD800`
  const held = { when: "write.done", block: "answer", until: "bash.done", because: "nothing was run" }
  await running(tmp, {
    guards: { "tests-before-answer": { command: "true" }, [odd]: held },
    script: [
      call("write", { path: "a.txt", content: "one\n" }),
      text("Finished."),
      call("bash", { command: "true" }),
      text("Done."),
    ],
  })
  const { out } = await vitamin(tmp, ["guard", "explain", "--svg", "timeline.svg"])
  const lines = out.split("\n").map((line) => line.replace(/^\S+ \S+ {2}/, ""))
  assert.match(lines[0]!, /^answer was blocked by "tests-before-answer": files were changed, and /)
  assert.match(lines[1]!, /^answer was blocked by "b, "c" <d> & .*": nothing was run$/)
  assert.match(lines[2]!, /^\d+ events, 1 blocked$/)
  const svg = readFileSync(join(tmp.path, "timeline.svg"), "utf8")
  assert.match(svg, />b, &#34;c&#34; &#60;d&#62; &#38; +<\/text>/)
  assert.doesNotMatch(svg, /[\uFFFE\uFFFF\uFFFD]|(?!\n)\p{Cc}/u)
})

test("guard explain --format json gives every event in order", async () => {
  await using tmp = await tmpdir({ git: true })
  await runSession(tmp)
  const { events } = JSON.parse((await vitamin(tmp, ["guard", "explain", "--format", "json"])).out)
  const seen = events.flatMap((one: { event: string }) => (one.event === "usage" ? [] : one.event))
  assert.deepEqual(
    seen.filter((event: string) => event !== "prompt"),
    [
      "write:docs/a.md",
      "write:a.txt",
      "write.done:a.txt",
      "answer",
      "bash:sh check.sh",
      "bash.done:sh check.sh",
      "answer",
    ],
  )
})

test("guard simulate shows what other guards would block, and what they would let through", async () => {
  await using tmp = await tmpdir({ git: true })
  await runSession(tmp)
  tmp.write(
    "other.jsonc",
    `// other guards
{ "quiet": { "when": "write.done", "block": "bash", "until": "prompt", "because": "no commands after a write" } }`,
  )
  const { code, out, err } = await vitamin(tmp, ["guard", "simulate", "--guards", "other.jsonc"])
  assert.equal(code, 0, err)
  assert.deepEqual(
    out.split("\n").map((line) => line.replace(/^\S+ \S+ {2}/, "")),
    [
      'write:docs/a.md would no longer be blocked by "no-docs"',
      'answer would no longer be blocked by "tests-before-answer"',
      'bash:sh check.sh would be blocked by "quiet": no commands after a write',
      "1 guard, 5 actions, 1 would be blocked",
    ],
  )
})

test("guard simulate with the same guards blocks the same", async () => {
  await using tmp = await tmpdir({ git: true })
  await runSession(tmp)
  tmp.write("same.jsonc", JSON.stringify(guards))
  const { out } = await vitamin(tmp, ["guard", "simulate", "--guards", "same.jsonc", "--format", "json"])
  type Replayed = { blocked: { guard: string }[]; simulated: { guard: string }[] }
  const { events, problems } = JSON.parse(out) as { events: Replayed[]; problems: unknown[] }
  const names = (list: { guard: string }[]) => list.map(({ guard }) => guard)
  assert.deepEqual(
    events.map(({ simulated }) => names(simulated)),
    events.map(({ blocked }) => names(blocked)),
  )
  assert.deepEqual(problems, [])
})

test("guard simulate names a file that is missing or wrong, and explain a session that does not exist", async () => {
  await using tmp = await tmpdir({ git: true })
  await runSession(tmp)
  const simulate = async (file: string) => vitamin(tmp, ["guard", "simulate", "--guards", file])
  assert.match((await simulate("none.jsonc")).err, /none\.jsonc: the file does not exist/)
  tmp.write("bad.jsonc", '{ "mine": { "block": "file.wrte", "because": "x" } }')
  const bad = await simulate("bad.jsonc")
  assert.match(bad.err, /bad\.jsonc: guards\.mine\.block: /)
  assert.equal(bad.code, 1)
  const missing = await vitamin(tmp, ["guard", "explain", "sess_none"])
  assert.equal(missing.code, 1)
})
