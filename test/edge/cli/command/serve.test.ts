// A real `vitamin serve`: signals, hosts, reload and trust while it runs, and a closed log.
import assert from "node:assert/strict"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as Running from "../../../ability/shell/running.ts"
import { serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

type Serving = Awaited<ReturnType<typeof serving>>

function bearer({ tokenFile }: Serving) {
  return { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` }
}

for (const [signals, code] of [
  [["SIGINT"], 130],
  [["SIGTERM"], 143],
  [["SIGHUP"], 130],
  [["SIGINT", "SIGINT"], 130],
] as const)
  test(`vitamin serve stops cleanly on ${signals.join(" twice at once, ")}, with ${code}`, async () => {
    await using tmp = await tmpdir()
    const server = await serving(tmp)
    await using child = server.child
    for (const signal of signals) child.process.kill(signal)
    assert.equal(await child.exit, code, child.errors())
    assert.ok(readFileSync(join(tmp.env.XDG_STATE_HOME!, "vitamin/events/0/reserved"), "utf8"))
  })

test("vitamin serve answers waiting clients when it stops, and leaves nothing running", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = Running.uniqueNap()
  tmp.write("stubborn.sh", `trap '' TERM; touch up; while :; do sleep ${nap}; done`)
  const permission = [{ permission: "bash.execute", pattern: "bash stubborn.sh", action: "allow" }]
  await using llm = await fakeLlm((_, turn) =>
    call("bash", { command: turn === 0 ? "bash stubborn.sh" : "touch asked-for" }),
  )
  const server = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ permission }),
  })
  await using child = server.child
  const post = async (path: string, body: object) => {
    const headers = { ...bearer(server), "content-type": "application/json" }
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
    return (await response.json()) as { id: string; error?: { name: string } }
  }
  const ask = async () => post(`/session/${(await post("/session", {})).id}/message`, { text: "go" })
  const running = ask()
  await until(async () => existsSync(join(tmp.path, "up")), "the command runs")
  const waiting = ask()
  const pending = () => fetch(`${server.url}/permission/pending`, { headers: bearer(server) })
  await until(async () => ((await (await pending()).json()) as unknown[]).length === 1, "a question")
  child.process.kill("SIGTERM")
  for (const answer of [running, waiting]) assert.equal((await answer).error?.name, "Session.Interrupted")
  assert.equal(await child.exit, 143, child.errors())
  assert.deepEqual(Running.running(nap), [])
})

test("vitamin serve listens on 3141 by default and on loopback only", async () => {
  await using tmp = await tmpdir()
  await using child = startVitamin(tmp, ["serve"])
  const line = await Promise.race([child.line(/listening/), child.exit.then(() => "")])
  if (line === "") return assert.match(child.errors(), /Port 3141 on 127\.0\.0\.1 is in use/)
  assert.match(line, /http:\/\/127\.0\.0\.1:3141 /)
})

for (const host of ["0.0.0.0", "::1", "localhost"])
  test(`vitamin serve --host ${host} answers under the URL that it prints`, async () => {
    await using tmp = await tmpdir()
    const server = await serving(tmp, ["--host", host])
    await using _ = server.child
    assert.equal((await fetch(`${server.url}/health`)).status, 200)
  })

test("vitamin serve tells its clients when the configuration changes, and keeps the last good one", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using _ = server.child
  const headers = bearer(server)
  const events = await fetch(`${server.url}/event`, { headers })
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  let text = ""
  while (!/config\.changed\ndata: .*\n/.test(text)) text += (await reader.read()).value
  assert.match(text, /event: config\.changed\ndata: .*"sources":\["project"\]/)
  const model = async () =>
    ((await (await fetch(`${server.url}/config`, { headers })).json()) as { model?: string }).model
  assert.equal(await model(), "a/b")
  tmp.write(".vitamin/config.jsonc", '{ "model": ')
  await until(async () => /last good one stays/.test(server.child.errors()), "a warning")
  assert.equal(await model(), "a/b")
  await reader.cancel()
})

test("a running server notices when trust is given and taken back", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "environment": { "pass": ["MARK"] } }')
  const server = await serving(tmp)
  await using _ = server.child
  const headers = bearer(server)
  const isTrusted = async () =>
    "environment" in ((await (await fetch(`${server.url}/config`, { headers })).json()) as object)
  assert.equal(await isTrusted(), false)
  await vitamin(tmp, ["trust", "--yes"])
  await until(isTrusted, "trusted")
  await vitamin(tmp, ["trust", "--remove"])
  await until(async () => !(await isTrusted()), "no longer trusted")
})

test("vitamin serve continues when the reader of its log is gone", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using child = server.child
  child.process.stderr!.destroy()
  for (let i = 0; i < 5; i++) {
    writeFileSync(tmp.write(".vitamin/config.jsonc", "{"), `{ broken ${i}`)
    await sleep(120)
  }
  assert.equal((await fetch(`${server.url}/health`)).status, 200)
  child.process.kill("SIGTERM")
  assert.equal(await child.exit, 143)
})

for (const command of [["serve"], ["mcp", "serve", "--http"]])
  test(`vitamin ${command.join(" ")} --host 0.0.0.0 names the addresses that other machines can reach, and warns`, async () => {
    await using tmp = await tmpdir()
    await using child = startVitamin(tmp, [...command, "--host", "0.0.0.0", "--port", "0"])
    await until(async () => /Whoever has the token can run commands/.test(child.errors()), "the warning")
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(child.lines[0]!)![1]
    const urls = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address }) => `http://${address}:${port}`)
    const at = urls.length ? ` at ${urls.join(", ")}` : ""
    assert.ok(
      child.errors().includes(`warning: other machines can reach this server${at}. Whoever`),
      child.errors(),
    )
    for (const url of [`http://127.0.0.1:${port}`, ...urls])
      assert.equal((await fetch(`${url}/health`)).status, 200)
  })

test("vitamin serve on loopback prints no warning", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using child = server.child
  child.process.kill("SIGINT")
  await child.exit
  assert.doesNotMatch(child.errors(), /warning/)
})
