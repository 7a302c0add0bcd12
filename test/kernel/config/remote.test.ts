import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import * as Config from "#kernel/config/config.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { inInstance, writeGlobal } from "./fixture.ts"

/** A server on loopback that the global file names as the remote configuration. */
async function serve(answer: RequestListener) {
  const handler = { answer, requests: 0 }
  const server = createServer((request, response) => {
    handler.requests++
    handler.answer(request, response)
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/config.json`
  return Object.assign(handler, {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  })
}

const says =
  (text: string | Uint8Array, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(text)
const name = (url: string, extra = {}) => writeGlobal(JSON.stringify({ remote: { url, ...extra } }))
const modelIs = (model: string) => until(async () => (await Config.get()).model === model, `model ${model}`)

function kept(): string[] {
  const folder = join(Global.cache(), "remote-config")
  try {
    return readdirSync(folder).map((file) => join(folder, file))
  } catch {
    return []
  }
}

async function logged(tmp: Tmp, pattern: RegExp, fn: (warned: () => Promise<void>) => Promise<void>) {
  const file = join(tmp.path, "log")
  writeFileSync(file, "")
  Log.setFile(file)
  try {
    await fn(() => until(() => pattern.test(readFileSync(file, "utf8")), `log ${pattern}`))
  } finally {
    Log.setFile(undefined)
  }
}

test("Config.get() starts without the remote layer, then applies it and publishes the change", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(says('{ "model": "a/remote", /* c */ }'))
  name(server.url)
  await inInstance(tmp.path, async (changes) => {
    const { config, layers } = await Config.current()
    assert.equal(config.model, undefined)
    assert.deepEqual(layers[0], { source: "remote", path: server.url, status: "pending" })
    await modelIs("a/remote")
    const after = await Config.current()
    assert.equal(after.origins.model, "remote")
    assert.equal(after.layers[0]?.status, "cached")
    assert.deepEqual(changes, [["remote"]])
    assert.equal(server.requests, 1)
  })
  assert.equal(kept().length, 1)
  assert.equal(statSync(kept()[0]!).mode & 0o777, 0o600)
})

test("Config.get() uses the cached copy at once while the server is down", async () => {
  await using tmp = await tmpdir()
  const server = await serve(says('{ "model": "a/kept" }'))
  name(server.url)
  await inInstance(tmp.path, () => modelIs("a/kept"))
  await server[Symbol.asyncDispose]()
  await logged(tmp, /remote configuration could not be fetched.*ECONNREFUSED/, (warned) =>
    inInstance(tmp.path, async (changes) => {
      assert.equal((await Config.get()).model, "a/kept")
      await warned()
      assert.equal((await Config.get()).model, "a/kept")
      assert.deepEqual(changes, [])
    }),
  )
  assert.equal((await Config.load({ directory: tmp.path })).model, "a/kept")
})

test("Config.get() replaces the cached copy by a changed answer, and reports nothing for an equal one", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(says('{ "model": "a/one" }'))
  name(server.url)
  await inInstance(tmp.path, () => modelIs("a/one"))
  server.answer = says('{ "model": "a/two" }')
  await inInstance(tmp.path, async (changes) => {
    assert.equal((await Config.get()).model, "a/one")
    await modelIs("a/two")
    assert.deepEqual(changes, [["remote"]])
  })
  const { ino } = statSync(kept()[0]!)
  await inInstance(tmp.path, async (changes) => {
    await Config.get()
    await until(() => server.requests === 3, "the request")
    await setTimeout(200)
    assert.deepEqual(changes, [])
    assert.equal(statSync(kept()[0]!).ino, ino)
  })
})

const redirects: RequestListener = (request, response) => {
  if (request.url === "/moved") response.end('{ "model": "a/moved" }')
  else response.writeHead(302, { location: "/moved" }).end()
}
const refused: [string, RequestListener, RegExp][] = [
  ["broken", says('{ "model": '), /:1:12: a value is expected/],
  ["of wrong type", says('{ "model": 5 }'), /:1:3: model: expected string/],
  ["an error page", says("{}", 500), /answered 500/],
  ["longer than 1 MB", says(`{ "model": "a/${"x".repeat(1 << 20)}" }`), /longer than 1048576/],
  ["a redirect", redirects, /redirect/],
  ["invalid UTF-8", says(Buffer.from([0x7b, 0xff, 0x7d])), /UTF-8/],
]
for (const [kind, answer, pattern] of refused)
  test(`Config.get() keeps the cached copy when the answer is ${kind}, and warns`, async () => {
    await using tmp = await tmpdir()
    await using server = await serve(says('{ "model": "a/kept" }'))
    name(server.url)
    await inInstance(tmp.path, () => modelIs("a/kept"))
    server.answer = answer
    await logged(tmp, pattern, (warned) =>
      inInstance(tmp.path, async (changes) => {
        await Config.get()
        await warned()
        assert.equal((await Config.get()).model, "a/kept")
        assert.deepEqual(changes, [])
      }),
    )
    assert.deepEqual(
      kept().map((file) => readFileSync(file, "utf8")),
      ['{ "model": "a/kept" }'],
    )
  })

test("Config.get() does not wait for a slow server, neither at start nor at the end", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(() => {})
  name(server.url, { timeout: 60_000 })
  await inInstance(tmp.path, async () => {
    assert.equal((await Config.get()).model, undefined)
    await until(() => server.requests === 1, "the request")
  })
  assert.deepEqual(kept(), [])
})

test("Config.get() stops waiting for a server after its time limit", async () => {
  await using tmp = await tmpdir()
  await using server = await serve((_, response) => void response.write('{ "model"'))
  name(server.url, { timeout: 100 })
  await logged(tmp, /could not be fetched.*timeout/, (warned) =>
    inInstance(tmp.path, async () => {
      await Config.get()
      await warned()
    }),
  )
})

test("Config.get() ignores a broken cached copy", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(says('{ "model": "a/b" }'))
  name(server.url)
  await inInstance(tmp.path, () => modelIs("a/b"))
  for (const content of ["", '{ "model', '{ "model": 5 }']) {
    writeFileSync(kept()[0]!, content)
    const { config, warnings } = await Config.inspect({ directory: tmp.path })
    assert.equal(config.model, undefined)
    assert.match(warnings.join(), /the cached copy is not used: http/)
  }
  await inInstance(tmp.path, () => modelIs("a/b"))
})

test("Config.get() ignores a remote key in the remote answer, and the layers above win", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(
    says('{ "remote": { "url": "https://127.0.0.1:1/" }, "agent": { "name": "r", "model": "m" } }'),
  )
  writeGlobal(JSON.stringify({ remote: { url: server.url }, agent: { name: "mine" } }))
  await inInstance(tmp.path, async () => {
    await until(async () => (await Config.get()).agent?.model === "m", "the remote layer")
    const { config, ignored } = await Config.current()
    assert.equal(config.agent?.name, "mine")
    assert.equal(config.remote?.url, server.url)
    assert.deepEqual(
      ignored.map(({ source, key }) => [source, key]),
      [["remote", "remote"]],
    )
  })
})

test("Config.get() fetches again when the URL changes", async () => {
  await using tmp = await tmpdir()
  await using one = await serve(says('{ "model": "a/one" }'))
  await using two = await serve(says('{ "model": "a/two" }'))
  name(one.url)
  await inInstance(tmp.path, async () => {
    await Config.watch()
    await modelIs("a/one")
    name(two.url)
    await modelIs("a/two")
  })
})

test("Config.get() does not keep the process alive after its instance is disposed", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(() => {})
  name(server.url, { timeout: 60_000 })
  const root = new URL("../../../src/", import.meta.url)
  const script = tmp.write(
    "main.mjs",
    `const { Instance } = await import(${JSON.stringify(new URL("kernel/instance.ts", root).href)})
     const Config = await import(${JSON.stringify(new URL("kernel/config/config.ts", root).href)})
     await Instance.provide({ directory: ${JSON.stringify(tmp.path)}, fn: async () => { await Config.get(); await Instance.dispose() } })
     console.log("done")`,
  )
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: tmp.env, timeout: 20_000 })
  assert.equal(stdout, "done\n")
})

test("Config.get() never logs the query of the remote URL", async () => {
  await using tmp = await tmpdir()
  await using server = await serve(says('{ "model": "a/b" }'))
  name(`${server.url}?token=query-secret`)
  await inInstance(tmp.path, () => modelIs("a/b"))
  writeFileSync(kept()[0]!, "{")
  server.answer = says('{ "model": ')
  const both =
    /cached copy is not used: http\S+config\.json:1:.*could not be fetched.* url=http\S+config\.json /s
  await logged(tmp, both, (warned) =>
    inInstance(tmp.path, async () => {
      const { layers, warnings } = await Config.current()
      await warned()
      const log = readFileSync(join(tmp.path, "log"), "utf8")
      assert.doesNotMatch(JSON.stringify([layers, warnings, log]), /query-secret/)
    }),
  )
})
