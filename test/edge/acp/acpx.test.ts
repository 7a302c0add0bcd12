// A real client that somebody else wrote, with an older SDK in it: acpx.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { running, until } from "../../ability/tool/shell/running.ts"
import { run } from "../../fixture/child.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { checkMessages, command } from "./harness.ts"

const acpx = fileURLToPath(new URL("../../../script/acpx/node_modules/acpx/dist/cli.js", import.meta.url))
const skip = existsSync(acpx) ? false : "acpx is missing (bash script/setup.sh brings it)"

async function drive(tmp: Tmp, llm: FakeLlm, args: string[]) {
  // By its log its processes are known.
  const agent = `${process.execPath} ${command} acp --log-file ${join(tmp.path, "..", "acp.log")}`
  await using child = run(process.execPath, [acpx, "--agent", agent, ...args], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
  })
  child.process.stdin!.end()
  const hung = setTimeout(() => child.process.kill("SIGKILL"), 120_000)
  const code = await child.exit
  clearTimeout(hung)
  return { code, out: child.lines.join("\n"), lines: child.lines, err: child.errors() }
}

test("acpx exec gets an answer, with a tool call that it allows", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" }), text("Written, hello.")])
  const { code, out, err } = await drive(tmp, llm, ["--approve-all", "exec", "hello"])
  assert.equal(code, 0, err)
  assert.match(out, /Written, hello\.[\s\S]*end_turn/)
  assert.ok(existsSync(join(tmp.path, "a.txt")))
})

test("acpx --deny-all denies, and what it is sent fits the protocol", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" }), text("Not written.")])
  const { out, lines, err } = await drive(tmp, llm, ["--deny-all", "--format", "json", "exec", "hello"])
  assert.match(out, /"stopReason":"end_turn"/, err)
  assert.equal(existsSync(join(tmp.path, "a.txt")), false)
  const messages = lines.map((line) => ({ line, ...JSON.parse(line) }))
  // It prints both sides; what it says itself is told by its methods.
  const isOurs = ({ method, result, id }: { method?: string; result?: object; id?: unknown }) =>
    method
      ? /^session\/(update|request_permission)$/.test(method)
      : !("outcome" in (result ?? {})) && id !== undefined
  checkMessages(
    messages.filter(isOurs).map(({ line }) => line),
    messages.filter((message) => !isOurs(message)).map(({ line }) => line),
  )
  assert.ok(messages.filter(isOurs).length > 5)
})

test("acpx keeps a session over several processes", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("One."), text("Two.")])
  const created = await drive(tmp, llm, ["sessions", "new"])
  assert.equal(created.code, 0, created.err)
  for (const [words, answer] of [
    ["first", /One\./],
    ["second", /Two\./],
  ] as const) {
    const { code, out, err } = await drive(tmp, llm, ["--approve-all", "--ttl", "1", "prompt", words])
    assert.equal(code, 0, err)
    assert.match(out, answer)
    await until("its processes are gone", () => running(join(tmp.path, "..", "acp.log")).length === 0)
  }
  assert.match(JSON.stringify(llm.requests[1]!.messages), /first.*One\..*second/)
})
