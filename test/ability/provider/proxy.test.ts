import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, request as pass } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { test } from "node:test"
import * as Provider from "#ability/provider/provider.ts"
import { run } from "../../fixture/child.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { inInstance } from "./harness.ts"

/** A proxy that leads every name to one port on this machine, and remembers what it was asked for. */
async function proxyTo(port: number): Promise<{ url: string; asked: string[] } & AsyncDisposable> {
  const asked: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming
    asked.push(url)
    const { pathname } = new URL(url)
    const upstream = pass({ host: "127.0.0.1", port, path: pathname, method, headers }, (answer) => {
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 0, answer.headers))
    })
    incoming.pipe(upstream)
  }).on("connect", (request, socket) => {
    asked.push(request.url ?? "")
    const upstream = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [upstream, socket]) end.on("error", () => upstream.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

// In a process of its own: a proxy is a matter of the whole process.
const script = `
import * as Provider from "#ability/provider/provider.ts"
import { Instance } from "#kernel/instance.ts"
await Instance.provide({ directory: process.argv[1], fn: async () => {
  for (const id of process.argv.slice(2)) {
    const model = await Provider.getModel(id, "m")
    const prompt = [{ role: "user", content: [{ type: "text", text: "Hi" }] }]
    const said = await model.doStream({ prompt }).then(async ({ stream }) => {
      let text = ""
      for await (const part of stream) if (part.type === "text-delta") text += part.delta
      return text
    }, () => "could not be reached")
    console.log(id, said)
  }
} })
process.exit(0)
`

test("requests go through HTTP_PROXY, except to this machine and to NO_PROXY", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(() => text("heard"))
  const port = new URL(llm.url).port
  await using proxy = await proxyTo(Number(port))
  const provider = {
    far: { baseURL: "http://models.example.test/v1", apiKey: "key-0123456789" },
    near: { baseURL: `http://localhost:${port}/v1` },
    excepted: { baseURL: "http://models.direct.test/v1", apiKey: "key-0123456789" },
  }
  const env = {
    ...tmp.env,
    HTTP_PROXY: proxy.url,
    http_proxy: "",
    NO_PROXY: "other.test,.direct.test",
    no_proxy: "",
    VITAMIN_CONFIG: JSON.stringify({ provider }),
  }
  const root = new URL("../../..", import.meta.url).pathname
  await using child = run(
    process.execPath,
    ["--input-type=module", "-e", script, tmp.path, ...Object.keys(provider)],
    {
      cwd: root,
      env,
    },
  )
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(child.lines, ["far heard", "near heard", "excepted could not be reached"])
  assert.deepEqual(proxy.asked, ["http://models.example.test/v1/chat/completions"])
  assert.equal(llm.requests.length, 2)
})

test("a proxy that is no URL is an error that names the variable", async () => {
  const variables = { HTTPS_PROXY: "http://", OPENAI_API_KEY: "key-0123456789" }
  await inInstance({ variables }, async () => {
    await assert.rejects(Provider.getModel("openai", "gpt-5"), {
      name: "Provider.Unusable",
      message: /HTTPS_PROXY/,
    })
  })
})
