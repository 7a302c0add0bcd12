// Images from files, addresses and bytes: real files, a real server on loopback.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { maxBytes } from "#ability/image/image-format.ts"
import { loadImage, type Source } from "#ability/image/load-image.ts"
import { Instance } from "#kernel/instance.ts"
import { image } from "../../fixture/images.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const note = image("note.png")
const context = {
  sessionId: "sess_1",
  messageId: "msg_1",
  callId: "msg_1",
  signal: AbortSignal.timeout(60_000),
}
const from = (source: Source, granted: string[] = []) => loadImage(source, { ...context, granted })
const bytes = (value: string): Source => ({ kind: "base64", value })

async function inProject(fn: (tmp: Tmp) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir()
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
  }
}

async function serving(answer: RequestListener, fn: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    await fn(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
}

test("loadImage() reads a file, by its content and not by its name", () =>
  inProject(async (tmp) => {
    tmp.write("shots/note.png", image("note.jpg"))
    const loaded = await from({ kind: "file", value: "shots/note.png", mimeType: "image/png" })
    assert.equal(loaded.format.mimeType, "image/jpeg")
    assert.deepEqual(loaded.bytes, image("note.jpg"))
  }))

test("loadImage() refuses paths outside of the workspace, folders and missing files", () =>
  inProject(async (tmp) => {
    const outside = join(dirname(tmp.path), "outside.png")
    writeFileSync(outside, note)
    symlinkSync(outside, join(tmp.path, "link.png"))
    mkdirSync(join(tmp.path, "folder.png"))
    execFileSync("mkfifo", [join(tmp.path, "pipe.png")])
    tmp.write("note.png", note)
    const file = (value: string) => from({ kind: "file", value })
    await assert.rejects(file(outside), { name: "PathOutside" })
    await assert.rejects(file("link.png"), { name: "PathOutside" })
    await assert.rejects(file("folder.png"), /is a folder/)
    await assert.rejects(file("pipe.png"), /named pipe/)
    await assert.rejects(file("nite.png"), /does not exist. Did you mean "note.png"/)
    assert.equal((await from({ kind: "file", value: outside }, [outside])).format.mimeType, "image/png")
  }))

test("loadImage() refuses a file that is too long before it is read", () =>
  inProject(async (tmp) => {
    tmp.write("long.png", Buffer.concat([note, Buffer.alloc(maxBytes)]))
    await assert.rejects(from({ kind: "file", value: "long.png" }), /bytes, and at most 20000000/)
  }))

test("loadImage() decodes base64 and data URLs", async () => {
  const text = note.toString("base64")
  for (const source of [
    bytes(text),
    bytes(text.replace(/.{76}/g, "$&\r\n")),
    bytes(note.toString("base64url")),
    bytes(`data:image/png;base64,${text}`),
    { kind: "url" as const, value: `data:image/jpeg;charset=x;base64,${text}` },
  ])
    assert.deepEqual((await from(source)).bytes, note)
})

for (const [what, value, reason] of [
  ["a text that is no base64", "not base64 at all!", /not base64/],
  ["base64 of something else", Buffer.from("<html></html>").toString("base64"), /a web page/],
  ["an empty data URL", "data:image/png;base64,", /empty/],
  ["a data URL in another encoding", "data:image/svg+xml,<svg/>", /not in base64/],
  ["more than is read", "A".repeat(maxBytes * 1.5 + 4), /at most 20000000/],
] as const)
  test(`loadImage() refuses ${what}`, async () => {
    await assert.rejects(from(bytes(value)), (error: Error) => {
      assert.equal(error.name, "Image.Invalid")
      assert.match(error.message, reason)
      return true
    })
  })

test("loadImage() fetches an address that was granted, over redirects, whatever type the server claims", () =>
  serving(
    (request, response) => {
      if (request.url === "/a") return void response.writeHead(302, { location: "/b" }).end()
      response.writeHead(200, { "content-type": "text/html" }).end(note)
    },
    async (origin) => {
      const loaded = await from({ kind: "url", value: `${origin}/a` }, [origin])
      assert.deepEqual(loaded.bytes, note)
    },
  ))

test("loadImage() refuses private addresses, error pages, web pages, what is too long or unreachable", () =>
  serving(
    (request, response) => {
      if (request.url === "/page") return void response.end("<!doctype html><p>Sign in</p>")
      if (request.url === "/gone") return void response.writeHead(404).end("gone")
      if (request.url === "/cut") return void response.end(note.subarray(0, 3_000))
      response.writeHead(200, { "content-length": String(maxBytes + 10) })
      response.end(Buffer.concat([note, Buffer.alloc(maxBytes + 10 - note.length)]))
    },
    async (origin) => {
      const get = (path: string, granted = [origin]) => from({ kind: "url", value: origin + path }, granted)
      await assert.rejects(get("/page", []), { name: "UrlDenied", message: /not on the public internet/ })
      await assert.rejects(get("/page"), /a web page, not an image/)
      await assert.rejects(get("/gone"), /status 404/)
      await assert.rejects(get("/cut"), /breaks off/)
      await assert.rejects(get("/long"), /20000010 bytes, and at most/)
      const closed = "http://127.0.0.1:1"
      await assert.rejects(from({ kind: "url", value: closed }, [closed]), { name: "Fetch.Unreachable" })
      await assert.rejects(from({ kind: "url", value: "ftp://example.com/a.png" }), { name: "UrlDenied" })
    },
  ))
