// `vitamin world run` through its three tiers: real files, a scripted judge, a real Chromium.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { UnitReport } from "#ability/tiers/run-tiers.ts"
import type { StoryResult } from "#ability/world/story-result.ts"
import { vitamin } from "../../../fixture/cli.ts"
import {
  env,
  type FakeLlm,
  fakeLlm,
  type Reply,
  type Request,
  stall,
  status,
  text,
} from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const good = `export const shows = { intent: "Shows a word", template: "<p>Hi</p>", play: ({ findByText }) => findByText("Hi") }\n`
const verdict = (score: number) => text(JSON.stringify({ score, reasons: ["It is plain."] }))
const fileIn = ({ raw }: Request) => /<source file=\\"([\w.]+)\\"/.exec(raw)?.[1] ?? ""

async function run(tmp: Tmp, llm: FakeLlm, ...args: string[]) {
  const { variables, model } = env(llm, "chat")
  const line = ["--trust", "world", "run", "--model", model, "--format", "json", ...args]
  const { code, out, err } = await vitamin(tmp, line, variables)
  assert.ok(out.startsWith("{"), err)
  const { files, stories } = JSON.parse(out) as { files: UnitReport[]; stories: StoryResult[] }
  const tiers = Object.fromEntries(
    files.map((unit) => [unit.file, unit.tiers.map((one) => one.status).join(" ")]),
  )
  return { code, err, files, stories, tiers }
}

test("a later tier runs only after the earlier passed, and each file goes as far as it may", async () => {
  await using tmp = await tmpdir()
  tmp.write("good.stories.ts", good)
  tmp.write("low.stories.ts", good)
  tmp.write("fails.stories.ts", good.replace(`findByText("Hi")`, `findByText("Ho")`))
  tmp.write(
    "static.stories.ts",
    `import { Card } from "./card.ts"\nexport const card = { intent: "A card", component: Card }\n`,
  )
  tmp.write(
    "card.ts",
    'export const Card = () => `<section>\n  <button type="button">Add</button>\n</section>`\n',
  )
  await using llm = await fakeLlm((request) => verdict(fileIn(request).startsWith("low") ? 0.49 : 0.5))
  const { code, tiers, files, stories } = await run(tmp, llm, "--report", "report.html")
  assert.equal(code, 1)
  assert.deepEqual(tiers, {
    "fails.stories.ts": "passed passed failed",
    "good.stories.ts": "passed passed passed",
    "low.stories.ts": "passed failed held",
    "static.stories.ts": "failed held held",
  })
  assert.deepEqual(llm.requests.map(fileIn), ["fails.stories.ts", "good.stories.ts", "low.stories.ts"])
  assert.deepEqual(
    stories.map(({ file, status }) => `${file} ${status}`),
    ["fails.stories.ts failed", "good.stories.ts passed"],
  )
  const [, , low, held] = files
  assert.deepEqual(low!.verdict, { score: 0.49, reasons: ["It is plain."] })
  assert.deepEqual(low!.tiers[2], {
    tier: "browser",
    status: "held",
    by: ["the judge comes before the browser"],
  })
  assert.deepEqual(held!.tiers[1], { tier: "judge", status: "held", by: ["static analysis comes first"] })
  assert.deepEqual(
    held!.findings.map(({ file, line, column, rule }) => `${file}:${line}:${column} ${rule}`),
    ["card.ts:2:3 loop/no-handler"],
  )
  const report = readFileSync(join(tmp.path, "report.html"), "utf8")
  assert.match(report, /card\.ts:2:3: error loop\/no-handler/)
  assert.match(report, /FAILED {2}low\.stories\.ts: score 0\.49\. It is plain\./)
})

test("a judge that answers nonsense is asked once more, then skipped with a notice, and the browser runs", async () => {
  await using tmp = await tmpdir()
  const answers: Record<string, Reply[]> = {
    again: [text("I like it."), text(`\`\`\`json\n{"score": 1, "reasons": ["Fine."]}\n\`\`\``)],
    fault: [status(400, { message: "no such model" })],
    high: [verdict(1.5), verdict(-1)],
    extra: [text(`{"score": 1, "reasons": ["x"], "more": 1}`), text(`{"score": "1", "reasons": ["x"]}`)],
    none: [text(`{"score": 1, "reasons": []}`), text("[]")],
    silent: [stall(verdict(1), 0)],
  }
  for (const name of Object.keys(answers)) tmp.write(`${name}.stories.ts`, good)
  const seen = new Map<string, number>()
  await using llm = await fakeLlm((request) => {
    const name = fileIn(request).split(".")[0]!
    const turn = seen.get(name) ?? 0
    seen.set(name, turn + 1)
    return answers[name]![turn]!
  })
  const { code, err, tiers, files, stories } = await run(tmp, llm, "--judge-timeout", "2")
  assert.equal(code, 0, err)
  const expected = Object.keys(answers).sort()
  assert.deepEqual(
    tiers,
    Object.fromEntries(
      expected.map((name) => [
        `${name}.stories.ts`,
        name === "again" ? "passed passed passed" : "passed skipped passed",
      ]),
    ),
  )
  assert.deepEqual(
    Object.fromEntries(seen),
    Object.fromEntries(expected.map((name) => [name, answers[name]!.length])),
  )
  assert.match(llm.requests[1]!.raw, /Your answer was not accepted: it is not JSON\./)
  const notices = Object.fromEntries(
    files.map(({ file, tiers }) => [
      file.split(".")[0],
      tiers.flatMap((one) => ("notice" in one ? one.notice : []))[0],
    ]),
  )
  assert.match(notices.fault!, /no such model/)
  assert.match(notices.high!, /not accepted twice: .*>=0.*score/)
  assert.match(notices.extra!, /not accepted twice: .*expected number, received string/)
  assert.match(notices.none!, /not accepted twice: .*expected object/)
  assert.equal(notices.silent, "the model gave no answer in 2 s")
  assert.match(err, /^vitamin: the judge was skipped: the model gave no answer in 2 s$/m)
  assert.equal(stories.length, expected.length)
})

test("--no-judge asks nobody, and the built-in model cannot judge", async () => {
  await using tmp = await tmpdir()
  tmp.write("good.stories.ts", good)
  await using llm = await fakeLlm([])
  const { code, err, files } = await run(tmp, llm, "--no-judge")
  assert.equal(code, 0, err)
  assert.deepEqual(files[0]!.tiers[1], {
    tier: "judge",
    status: "skipped",
    notice: "nobody was asked to judge",
  })
  assert.equal(llm.requests.length, 0)
  const builtin = await vitamin(tmp, ["--trust", "world", "run"])
  assert.equal(builtin.code, 0, builtin.err)
  assert.match(builtin.err, /the judge was skipped: the built-in model cannot judge; --model names another/)
  assert.match(builtin.out, /^passed {2}good\.stories\.ts › shows/)
})

test("the judge gets source files without known secrets, also where a long file is cut", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([verdict(1), verdict(1)])
  const key = env(llm, "chat").variables.OPENAI_API_KEY!
  tmp.write("a.stories.ts", `${good}const key = "${key}"\n`)
  const start = `${good}// `
  tmp.write("b.stories.ts", `${start}${"x".repeat(60_000 - start.length - 12)}${key}\n`)
  const { tiers } = await run(tmp, llm)
  assert.deepEqual(Object.values(tiers), ["passed passed passed", "passed passed passed"])
  const [whole, long] = llm.requests.map(({ raw }) => raw)
  assert.match(whole!, /const key = /)
  assert.match(long!, /x{9000}/)
  for (const raw of [whole!, long!]) assert.ok(!raw.includes(key.slice(0, 8)))
})
