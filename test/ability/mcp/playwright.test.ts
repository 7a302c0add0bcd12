// The real @playwright/mcp with Debian's Chromium: the model opens a page, reads it and clicks, and the page's
// server sees the click. Only loopback is reached, and no browser process is left.
import assert from "node:assert/strict"
import { once } from "node:events"
import { accessSync, constants } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Request, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { running } from "../shell/running.ts"
import { mcpJson, officialServer } from "./servers.ts"

const chromium = "/usr/bin/chromium"
const page = `<!doctype html><title>A page</title><h1>Order tea</h1>
<button onclick="fetch('/ordered', { method: 'POST' }).then(() => { this.textContent = 'Thank you' })">Order</button>`

test("the agent uses a browser through @playwright/mcp, and it is gone at the end", {
  skip: noBrowser(),
}, async () => {
  await using tmp = await tmpdir({ git: true })
  await using shop = await servePage()
  tmp.write(".mcp.json", mcpJson({ browser: browserIn(tmp.path) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const known = await vitamin(tmp, ["mcp", "test", "browser"])
  assert.equal(known.code, 0, known.out + known.err)
  let browsers: string[] = []
  await using llm = await fakeLlm([
    call("browser_browser_navigate", { url: shop.url }),
    call("browser_browser_snapshot", {}),
    (request) => call("browser_browser_click", { element: "Order", target: refOf("Order", request) }),
    () => {
      browsers = running(tmp.path).filter((line) => line.includes("chromium"))
      return text("Ordered.")
    },
  ])
  const { code, out, err } = await vitamin(
    tmp,
    ["run", "--allow", "mcp.call:browser/*", "Order tea"],
    env(llm, "chat").variables,
  )
  assert.deepEqual([code, out], [0, "Ordered."], err)
  assert.match(llm.requests[2]!.raw, /heading \\+"Order tea\\+"/)
  assert.ok(browsers.length, "a browser was at work")
  await until(() => shop.seen.includes("POST /ordered"), "the click arrives")
  await until(() => running(tmp.path).length === 0, "the browser is gone")
})

function noBrowser(): string | false {
  try {
    accessSync(chromium, constants.X_OK)
    return false
  } catch {
    return `${chromium} is missing (package chromium)`
  }
}

/** Its profile and all else that it writes are in the folder. A proxy that is not there stands before all but loopback. */
function browserIn(folder: string) {
  return {
    ...officialServer(
      "playwright",
      ...["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium],
      ...["--proxy-server", "http://127.0.0.1:1", "--proxy-bypass", "127.0.0.1"],
      ...["--timeout-action", "60000", "--output-dir", `${folder}/output`],
    ),
    env: { TMPDIR: folder },
  }
}

async function servePage() {
  const seen: string[] = []
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`)
    response.writeHead(200, { "content-type": "text/html" }).end(page)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}

/** How the snapshot in the last result calls a button. */
function refOf(name: string, { raw }: Request): string {
  return new RegExp(`button \\\\+"${name}\\\\+" [^\\n]*?\\[ref=(\\w+)\\]`).exec(raw)?.[1] ?? "none"
}
