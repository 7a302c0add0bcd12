// `vitamin run` as a person starts it on a machine without any key.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const keyless = { VITAMIN_MODEL: "" }

function fill(tmp: Tmp) {
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `// ${name} ${i + 1}\n`).join("")
  tmp.write("src/large.ts", lines("large", 90))
  tmp.write("src/deep/small.ts", lines("small", 12))
  tmp.write("other.ts", "// not under src\n")
}

test("vitamin run without a key lists files and shows lines of the smallest, and says which model that was", async () => {
  await using tmp = await tmpdir({ git: true })
  fill(tmp)
  const request = "list the TypeScript files under src and show the first 10 lines of the smallest"
  const { code, out, err } = await vitamin(tmp, ["run", request], keyless)
  assert.equal(code, 0, err)
  assert.match(
    err,
    /^vitamin: no model is configured: using the built-in offline model local\/rules; .*VITAMIN_MODEL/,
  )
  assert.equal(err.match(/no model is configured/g)?.length, 1)
  const shown = Array.from({ length: 10 }, (_, i) => `// small ${i + 1}`).join("\n")
  assert.equal(out, `2 files:\nsrc/deep/small.ts\nsrc/large.ts\n\nsrc/deep/small.ts:\n${shown}`)
})

test("vitamin run without a key asks before it runs a command, as with any model", async () => {
  await using tmp = await tmpdir()
  const denied = await vitamin(tmp, ["run", "run `echo hi`"], keyless)
  assert.equal(denied.code, 3, denied.err)
  assert.match(denied.out, /bash echo hi did not work: /)
  const allowed = await vitamin(tmp, ["run", "--yes", "run `echo hi`"], keyless)
  assert.equal(allowed.code, 0, allowed.err)
  assert.equal(allowed.out, "hi")
})

test("vitamin run keeps a model that nobody chose to itself: the next prompt chooses again", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("from a real one")])
  assert.match((await vitamin(tmp, ["run", "hello"], keyless)).out, /Hello/)
  const variables = { OPENAI_BASE_URL: `${llm.url}/v1`, OPENAI_API_KEY: "fake-llm-key-0123456789" }
  const { out, err } = await vitamin(tmp, ["run", "--continue", "hello"], {
    ...variables,
    VITAMIN_MODEL: "openai/fake-model",
  })
  assert.equal(out, "from a real one", err)
})

test("vitamin run, models and doctor find a model server on this machine", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm(() => text("from the server"))
  await using server = await ollama(llm.url, "qwen2.5-coder:7b")
  const own = { ...keyless, OLLAMA_BASE_URL: "", OLLAMA_HOST: server.host }
  // Finding has 50 ms; a loaded machine may need several tries.
  const run = await eventually(
    () => vitamin(tmp, ["run", "hello"], own),
    ({ err }) => !err.includes("local/rules"),
  )
  assert.equal(run.out, "from the server", run.err)
  assert.equal(
    run.err,
    `vitamin: no model is configured: using ollama/qwen2.5-coder:7b, found at http://${server.host}/v1; VITAMIN_MODEL or --model chooses another\n`,
  )
  const models = await eventually(
    () => vitamin(tmp, ["models", "ollama"], own),
    ({ out }) => out !== "",
  )
  assert.match(models.out, /^ollama\/qwen2\.5-coder:7b /)
  const doctor = await eventually(
    () => vitamin(tmp, ["doctor"], own),
    ({ out }) => /model server/.test(out),
  )
  assert.match(doctor.out, /^ok {4}model {10}none configured; ollama\/qwen2\.5-coder:7b is used$/m)
  assert.match(
    doctor.out,
    /^ok {4}model server {3}ollama at http:\/\/127\.0\.0\.1:\d+\/v1, 1 models: qwen2\.5-coder:7b$/m,
  )
})

async function eventually<T>(attempt: () => Promise<T>, isSo: (result: T) => boolean): Promise<T> {
  for (const start = performance.now(); ; ) {
    const result = await attempt()
    if (isSo(result) || performance.now() - start > 120_000) return result
  }
}

/** Ollama's list of models, and a model behind it. */
async function ollama(target: string, name: string) {
  const server = createServer(async (request, response) => {
    if (request.url === "/api/tags")
      return void response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ models: [{ name }] }))
    const body = Buffer.concat(await request.toArray())
    const answer = await fetch(`${target}${request.url}`, { method: "POST", body })
    response.setHeader("content-type", answer.headers.get("content-type")!).end(await answer.text())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
