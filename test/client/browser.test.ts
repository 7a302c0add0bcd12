// The built client in Debian's Chromium, on a page of the server's own origin.
import assert from "node:assert/strict"
import { accessSync, constants, readFileSync } from "node:fs"
import { test } from "node:test"
import { chromium } from "playwright-core"
import { serving } from "../fixture/cli.ts"
import { env, fakeLlm, text } from "../fixture/fake-llm.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const executablePath = "/usr/bin/chromium"
const built = readFileSync(new URL("../../dist/client.js", import.meta.url), "utf8")

/** Runs in the page: it prompts a session and follows its events up to the end. */
const program = `
import { createClient, createHttpTransport } from "./client.js"
const client = createClient(createHttpTransport({ url: location.origin, token: TOKEN }))
const { id } = await client.createSession({ title: "From a browser" })
const types = []
const ending = new AbortController()
for await (const event of client.events({ signal: ending.signal })) {
  types.push(event.type)
  if (event.type === "connected") await client.promptSession({ id, text: "hello", prefer: "respond-async" })
  if (event.type === "session.idle") ending.abort()
}
const titles = (await client.listSessions()).map(({ title }) => title)
const missing = await client.getSession({ id: "nope" }).catch(({ name, status }) => [name, status])
globalThis.result = { titles, types, missing }
`

test("dist/client.js prompts, follows events and lists sessions in a browser", {
  skip: noBrowser(),
}, async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Hello.")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  try {
    const page = await browser.newPage()
    const files: Record<string, [type: string, body: string]> = {
      "/page": ["text/html", '<!doctype html><script type="module" src="/program.js"></script>'],
      "/program.js": ["text/javascript", program.replace("TOKEN", JSON.stringify(token))],
      "/client.js": ["text/javascript", built],
    }
    const failures: string[] = []
    page.on("pageerror", (error) => failures.push(String(error)))
    await page.route(
      (address) => address.pathname in files,
      (route) => {
        const [contentType, body] = files[new URL(route.request().url()).pathname]!
        return route.fulfill({ contentType, body })
      },
    )
    await page.goto(`${url}/page`)
    const ready = page.waitForFunction("globalThis.result").then((handle) => handle.jsonValue())
    const result = (await ready) as { titles: string[]; types: string[]; missing: unknown }
    assert.deepEqual(failures, [])
    assert.deepEqual(result.titles, ["From a browser"])
    assert.deepEqual(result.missing, ["Session.NotFound", 404])
    for (const type of ["connected", "message.created", "message.delta", "session.idle"])
      assert.ok(result.types.includes(type), type)
  } finally {
    await browser.close()
  }
})

function noBrowser(): string | false {
  try {
    accessSync(executablePath, constants.X_OK)
    return false
  } catch {
    return `${executablePath} is missing (package chromium)`
  }
}
