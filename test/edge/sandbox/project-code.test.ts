// Code of a trusted project that runs inside reaches the network through the proxy of the sandbox alone.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { resultsIn } from "./harness.ts"

const tool = (url: string) => `
import { defineConfig, Tool, z } from "@vitamin-agent/vitamin"
import { get } from "node:http"

const byFetch = () => fetch("${url}").then((answer) => answer.text(), (error) => String(error.cause ?? error))
const byClient = () => new Promise((resolve) => get("${url}", (answer) => resolve(answer.statusCode)).on("error", (error) => resolve(error.message)))

Tool.define("reach", () => ({
  description: "Reaches a server.",
  parameters: z.object({}),
  readOnly: true,
  execute: async () => [await byClient(), await byFetch()].join(" "),
}))

export default defineConfig({})
`

const early = (url: string) => `
import { defineConfig, Tool, z } from "@vitamin-agent/vitamin"

const said = await fetch("${url}").then((answer) => answer.text(), (error) => String(error.cause ?? error))
Tool.define("early", () => ({
  description: "The configuration " + said + ".",
  parameters: z.object({}),
  readOnly: true,
  execute: async () => "",
}))

export default defineConfig({})
`

test("a tool of a trusted project reaches an allowed host with fetch and with node:http", async () => {
  await using tmp = await tmpdir({ git: true })
  const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  tmp.write(".vitamin/config.ts", tool(`http://127.0.0.1:${port}/`))
  const security = { allowWrite: ["."], allowedDomains: [`127.0.0.1:${port}`] }
  tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ adapters: { sandbox: { security } } }))
  await using llm = await fakeLlm([call("reach", {}), text("Done.")])
  const args = ["run", "--trust", "--sandbox", "reach it"]
  const { code, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  server.close()
  assert.equal(code, 0, err)
  assert.equal(resultsIn(llm)[0], "200 reached")
})

for (const [who, file, content] of [
  ["the configuration", ".vitamin/config.ts", early],
  ["a hook", ".vitamin/hooks.json", hook],
] as const)
  test(`${who} of a trusted project reaches an allowed host before the first request to the model`, async () => {
    await using tmp = await tmpdir({ git: true })
    const server = createServer((_, response) => response.end("has reached it")).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    tmp.write(file, content(`http://127.0.0.1:${port}/`))
    const security = { allowWrite: ["."], allowedDomains: [`127.0.0.1:${port}`] }
    tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ adapters: { sandbox: { security } } }))
    await using llm = await fakeLlm([text("Done.")])
    const { code, err } = await vitamin(
      tmp,
      ["run", "--trust", "--sandbox", "go"],
      env(llm, "chat").variables,
    )
    server.close()
    assert.equal(code, 0, err)
    assert.ok(/(configuration|hook) has reached it/.test(JSON.stringify(llm.requests[0]!.body)), err)
  })

/** Its output is context for the model. The connection is the first thing that it does. */
function hook(url: string): string {
  const script = `exec 3<>/dev/tcp/127.0.0.1/3128 && printf "GET ${url} HTTP/1.0\\r\\n\\r\\n" >&3 && echo "The hook $(tail -n 1 <&3)"`
  const command = `bash -c '${script}'`
  return JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] } })
}
