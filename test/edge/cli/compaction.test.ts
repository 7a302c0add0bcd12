// Compaction through the command and over HTTP, and with the process killed in the middle of it.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { hooksJson } from "../../engine/hook/harness.ts"
import { serving, startVitamin, vitamin } from "../../fixture/cli.ts"
import {
  env,
  type FakeLlm,
  fakeLlm,
  type Reply,
  type Request,
  stall,
  status,
  text,
} from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { checkWire } from "../../fixture/wire-rules.ts"

const context = 12_000
const isSummary = ({ system }: Request) => /^You summarise/.test(system)

/** A model with a small window that counts the tokens it is sent. */
function model(summary: () => Reply = () => text("SUMMARY OF THE MODEL")) {
  let n = 0
  return fakeLlm((request) => {
    const input = Math.ceil(request.raw.length / 4)
    if (input > context)
      return status(400, { message: `prompt is too long: ${input} tokens > ${context} maximum` })
    if (isSummary(request)) return { usage: { input, output: 20 }, ...summary() }
    return text(`answer ${++n} ${"in many words ".repeat(500)}`, { usage: { input, output: 1_800 } })
  })
}

function settings(llm: FakeLlm): Record<string, string> {
  const models = { "fake-model": { context, output: 1_000 } }
  return {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
  }
}

test("vitamin run continues a session that exceeds the window, and session show has the older messages", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await model()
  const variables = settings(llm)
  const first = await vitamin(tmp, ["run", "wish 0: never use tabs"], variables)
  assert.equal(first.code, 0, first.err)
  let told = ""
  for (let i = 1; i < 9; i++) {
    const { code, err } = await vitamin(tmp, ["run", "--continue", `wish ${i}`], variables)
    assert.equal(code, 0, err)
    told += err
  }
  assert.match(told, /^· compacted: about \d+ tokens became \d+ \(with a summary by the model\)$/m)
  assert.ok(llm.requests.filter(isSummary).length >= 1)
  for (const request of llm.requests) checkWire(request)
  assert.match(llm.requests.at(-1)!.raw, /wish 0: never use tabs/)
  const id = (await vitamin(tmp, ["session", "list"])).out.split(" ")[0]!
  const shown = (await vitamin(tmp, ["session", "show", id])).out
  assert.match(shown, /SUMMARY OF THE MODEL/)
  assert.doesNotMatch(shown, /\[user\] wish 0/)
  const all = (await vitamin(tmp, ["session", "show", id, "--all"])).out
  for (let i = 0; i < 9; i++) assert.match(all, new RegExp(`\\[user\\] wish ${i}`))
  const compacted = await vitamin(tmp, ["session", "compact", id], variables)
  assert.equal(compacted.code, 0, compacted.err)
  assert.match(compacted.out, /^compacted: about \d+ tokens became \d+ \(with a summary by the model\)$/)
})

test("a session whose process is killed while its summary is written is unchanged, and continues", async () => {
  await using tmp = await tmpdir({ git: true })
  let isSlow = true
  await using llm = await model(() => (isSlow ? stall(text("never"), 10) : text("SUMMARY OF THE MODEL")))
  const variables = settings(llm)
  let said = 0
  while (!llm.requests.some(isSummary)) {
    await using child = startVitamin(
      tmp,
      ["run", ...(said ? ["--continue"] : []), `wish ${said++}`],
      variables,
    )
    child.process.stdin!.end()
    const over = child.exit.then(() => true)
    while (!llm.requests.some(isSummary)) if (await Promise.race([over, sleep(20)])) break
    if (llm.requests.some(isSummary)) child.process.kill("SIGKILL")
    await over
    assert.ok(said < 20, "no compaction began")
  }
  const shown = (await vitamin(tmp, ["session", "list"])).out
  assert.match(shown, / interrupted /)
  const id = shown.split(" ")[0]!
  const before = (await vitamin(tmp, ["session", "show", id])).out
  for (let i = 0; i < said; i++) assert.match(before, new RegExp(`\\[user\\] wish ${i}`))
  isSlow = false
  const { code, err } = await vitamin(tmp, ["run", "--continue", "go on"], variables)
  assert.equal(code, 0, err)
  checkWire(llm.requests.at(-1)!)
  assert.match(llm.requests.at(-1)!.raw, /SUMMARY OF THE MODEL/)
})

test("the server continues a session that exceeds the window, and compacts a session on request", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await model()
  const { child, url, tokenFile } = await serving(tmp, [], settings(llm))
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization, "content-type": "application/json" }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const json = (await answer.json()) as { id: string; status: string }
    assert.ok(answer.ok, JSON.stringify(json))
    return json
  }
  const { id } = await send("POST", "/session", {})
  for (let i = 0; i < 8; i++) await send("POST", `/session/${id}/message`, { text: `wish ${i}` })
  assert.ok(llm.requests.some(isSummary))
  const asked = llm.requests.length
  assert.equal((await send("POST", `/session/${id}/compact`)).status, "idle")
  assert.equal(llm.requests.length, asked + 1)
  await send("POST", `/session/${id}/message`, { text: "and on" })
  for (const request of llm.requests) checkWire(request)
  for (let i = 0; i < 8; i++) assert.match(llm.requests.at(-1)!.raw, new RegExp(`wish ${i}`))
})

test("a compaction that a full window needs is told to hooks, and none of them stops it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await model()
  const note = 'cat >> "$CLAUDE_PROJECT_DIR"/log'
  const commands = {
    PreCompact: { matcher: "auto", command: `${note}; echo not now >&2; exit 2` },
    PostCompact: note,
    SessionStart: { matcher: "compact", command: `${note}; echo Remember the port 4000.` },
  }
  const file = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/hooks.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, hooksJson(commands))
  const variables = settings(llm)
  let told = ""
  for (let i = 0; i < 9; i++) {
    const { code, err } = await vitamin(tmp, ["run", ...(i ? ["--continue"] : []), `wish ${i}`], variables)
    assert.equal(code, 0, err)
    told += err
  }
  assert.match(told, /\(PreCompact\) blocked the compaction: not now/)
  assert.match(told, /^· compacted: about \d+ tokens became \d+/m)
  const lines = readFileSync(join(tmp.path, "log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.slice(0, 3).map(({ hook_event_name: event, trigger, source }) => [event, trigger ?? source]),
    [
      ["PreCompact", "auto"],
      ["PostCompact", "auto"],
      ["SessionStart", "compact"],
    ],
  )
  assert.match(llm.requests.at(-1)!.raw, /Remember the port 4000/)
})
