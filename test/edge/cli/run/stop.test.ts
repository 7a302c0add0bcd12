// A signal while a command runs interrupts the whole turn, not only the command, and nothing runs afterwards.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { running, uniqueNap } from "../../../ability/shell/running.ts"
import { serving, startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const codes = { SIGTERM: 143, SIGINT: 130 } as const
const signals = Object.keys(codes) as (keyof typeof codes)[]

/** Checks what the session stored about the interrupted command. */
async function assertInterrupted(tmp: Tmp): Promise<void> {
  const [session] = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
  assert.equal(session.status, "interrupted")
  const { out } = await vitamin(tmp, ["session", "show", session.id, "--format", "json"])
  const results = (JSON.parse(out).messages as { type: string; data: { status: string } }[]).filter(
    ({ type }) => type === "tool_result",
  )
  assert.deepEqual(
    results.map(({ data }) => data.status),
    ["interrupted"],
  )
}

/** A server with a prompt whose command runs. */
async function working(tmp: Tmp, llm: { url: string }, nap: string) {
  const permission = [{ permission: "bash.execute", pattern: "*", action: "allow" }]
  const server = await serving(tmp, [], {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ permission }),
  })
  const answered = post(server, "/session", {}).then(({ body }) =>
    post(server, `/session/${body.id}/message`, { text: "sleep" }),
  )
  await until(() => running(nap).length, "the command runs")
  return { ...server, answered }
}

async function post({ url, tokenFile }: { url: string; tokenFile: string }, path: string, body: object) {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const headers = { authorization, "content-type": "application/json" }
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
  return {
    status: response.status,
    body: (await response.json()) as { id: string; error: { name: string } },
  }
}

for (const signal of signals)
  test(`vitamin serve interrupts a running command on ${signal}, and sends no further request`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    await using llm = await fakeLlm((_, turn) =>
      turn === 0 ? call("bash", { command: `sleep ${nap}` }) : text("It goes on."),
    )
    const { child, answered } = await working(tmp, llm, nap)
    await using _ = child
    child.process.kill(signal)
    const { status, body } = await answered
    assert.deepEqual([status, body.error.name], [409, "Session.Interrupted"])
    assert.equal(await child.exit, codes[signal], child.errors())
    assert.deepEqual(running(nap), [])
    assert.equal(llm.requests.length, 1)
    await assertInterrupted(tmp)
  })

test("vitamin serve interrupts a command that would end during the shutdown", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  const command = `: ${nap}; until [ -e go ]; do sleep 0.02; done`
  await using llm = await fakeLlm((_, turn) => (turn === 0 ? call("bash", { command }) : text("It goes on.")))
  const { child, url, answered } = await working(tmp, llm, nap)
  await using _ = child
  child.process.kill("SIGTERM")
  const isUp = () => fetch(`${url}/health`).catch(() => undefined)
  await until(async () => !(await isUp()), "it takes no more connections")
  tmp.write("go", "")
  assert.equal((await answered).status, 409)
  assert.equal(await child.exit, 143, child.errors())
  assert.equal(llm.requests.length, 1)
  await assertInterrupted(tmp)
})

for (const signal of signals)
  test(`vitamin run interrupts a running command on ${signal}, and sends no further request`, async () => {
    await using tmp = await tmpdir({ git: true })
    const nap = uniqueNap()
    await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` }), text("It goes on.")])
    await using child = startVitamin(tmp, ["run", "--yes", "sleep"], env(llm, "chat").variables)
    child.process.stdin?.end()
    await until(() => running(nap).length, "the command runs")
    child.process.kill(signal)
    assert.equal(await child.exit, codes[signal], child.errors())
    assert.deepEqual(running(nap), [])
    assert.equal(llm.requests.length, 1)
    await assertInterrupted(tmp)
  })

test("Ctrl-C in the terminal of vitamin run interrupts its command", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  await using llm = await fakeLlm([call("bash", { command: `sleep ${nap}` }), text("It goes on.")])
  await using terminal = openTerminal(tmp, ["run", "--yes", "sleep"], { env: env(llm, "chat").variables })
  await until(() => running(nap).length, "the command runs")
  terminal.type("\x03")
  assert.equal(await terminal.exit, 130, terminal.shown())
  assert.deepEqual(running(nap), [])
  assert.equal(llm.requests.length, 1)
  await assertInterrupted(tmp)
})
