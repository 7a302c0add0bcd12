// Signing in at a provider at the first start, with a provider on loopback.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { givenKey, keyProvider } from "../../fixture/key-provider.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const enter = "\r"
const down = "\u001b[B"

/** Waits until the terminal has shown so many addresses, each in one line, and opens the last one. */
async function opens(terminal: Xterm, count: number): Promise<void> {
  const addresses = () => terminal.bytes().match(/http:[^\s\u001b]+\/auth\?[^\s\u001b]+/g) ?? []
  await until(() => addresses().length === count, `address ${count}`)
  await terminal.sees("Waiting until you have signed in at openrouter.")
  await fetch(addresses().at(-1)!)
}

for (const isAttached of [false, true])
  test(`who signs in at OpenRouter chooses its model; a refusal shows the choice again${isAttached ? " (attach)" : ""}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("Here I am.")])
    await using provider = await keyProvider(llm.url)
    const variables = { ...noServers, OPENROUTER_BASE_URL: provider.baseURL }
    const server = isAttached ? await serving(tmp, [], variables) : undefined
    await using _ = server?.child
    const args = server ? ["attach", server.url, "--dir", tmp.path] : []
    await using terminal = await openXterm(tmp, args, { env: variables, columns: 70 })
    await terminal.sees(/› paste an API key.*\n {2}sign in at OpenRouter +with a browser/)
    provider.isRefusing = true
    terminal.type(`${down}${enter}`)
    await opens(terminal, 1)
    await terminal.sees("Signing in at openrouter failed: the provider answered 403")
    provider.isRefusing = false
    await terminal.sees(/› paste an API key/)
    terminal.type(`${down}${enter}`)
    await opens(terminal, 2)
    await terminal.sees(/Which model\?.*\n› openrouter\//)
    assert.match(terminal.all(), /You are signed in at openrouter\./)
    terminal.type(enter)
    await terminal.sees(/^ask · openrouter\//m)
    terminal.type(`hello${enter}`)
    await terminal.sees("Here I am.")
    assert.equal(llm.requests[0]!.headers.authorization, `Bearer ${givenKey}`)
    assert.ok(!terminal.bytes().includes(givenKey))
    const auth = JSON.parse(readFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin", "auth.json"), "utf8"))
    assert.equal(auth.openrouter.key, givenKey)
  })

test("--plain: a login that is stopped shows the choice again", async () => {
  await using tmp = await tmpdir({ git: true })
  await using provider = await keyProvider()
  const variables = { ...noServers, OPENROUTER_BASE_URL: provider.baseURL }
  await using terminal = await openXterm(tmp, ["--plain"], { env: variables })
  await terminal.sees(/2\. sign in at OpenRouter: with a browser.*Type a number/s)
  terminal.type(`2${enter}`)
  await terminal.sees("Waiting until you have signed in at openrouter. Type s for stop.")
  terminal.type(`s${enter}`)
  await terminal.sees(/The login was stopped\.\nWhich model should answer\?/)
})
