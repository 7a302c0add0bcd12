// The fetch tool through the gate, with servers on loopback.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { fetch } from "#ability/tool/builtin/fetch.ts"
import { granting, redirect, site } from "../../web/pages.ts"
import { call, free, inProject } from "../harness.ts"

const article = `<!doctype html><html><head><title>Growing &amp; pruning</title><style>p{}</style></head><body>
<nav><a href="/menu">Menu</a></nav><script>document.write("<b>script</b>")</script>
<main><h1>Pruning</h1><p>Cut <a href="../tools?x=1">above</a> a bud. ${"Roses like sun, water, and patience. ".repeat(20)}</p>
<pre><code class="language-sh">prune --all\n  now</code></pre></main></body></html>`

test("fetch gives a page's main content as Markdown, the title first, links absolute, menus and scripts gone", async () => {
  await using web = await site({ "/a/roses": article })
  await inProject(async () => {
    const url = `${web.origin}/a/roses`
    const result = await call("fetch", { url }, { slots: granting(web) })
    assert.equal(result.status, "success")
    assert.match(result.text, /^# Growing & pruning\n\n/)
    assert.ok(result.text.includes(`Cut [above](${web.origin}/tools?x=1) a bud.`), result.text)
    assert.ok(result.text.includes("```sh\nprune --all\n  now\n```"), result.text)
    assert.doesNotMatch(result.text, /Menu|script|p\{\}/)
    assert.equal(result.title, `Growing & pruning (127.0.0.1:${web.port})`)
    assert.deepEqual(result.data, {
      url,
      finalUrl: url,
      status: 200,
      contentType: "text/html; charset=utf-8",
      bytes: Buffer.byteLength(article),
      title: "Growing & pruning",
    })
  })
})

test("fetch needs network.fetch of the normalised URL, and is read-only", () => {
  const target = (url: string) => fetch.permission({ url })
  assert.deepEqual(target("HTTPS://Example.com/a/../b"), [
    { permission: "network.fetch", target: "https://example.com/b" },
  ])
  assert.deepEqual(target("no url"), [{ permission: "network.fetch", target: "no url" }])
  assert.equal(fetch.readOnly, true)
})

for (const url of [
  "ftp://example.com/x",
  "file:///etc/passwd",
  "example.com",
  "http://me:secret@example.com/",
])
  test(`fetch asks nobody for ${url}, which it could never get`, async () => {
    await inProject(async () => {
      const result = await call("fetch", { url })
      assert.equal(result.refused, undefined)
      assert.match(result.text, /expected a whole URL such as https:\/\/example\.com\/page/)
    })
  })

test("fetch is refused without permission, and at a private address without a grant for its origin", async () => {
  await using web = await site({ "/": article })
  await inProject(async () => {
    assert.equal((await call("fetch", { url: web.origin })).refused, "permission")
    for (const url of [web.origin, `http://2130706433:${web.port}/`, `http://localhost:${web.port}/`]) {
      const result = await call("fetch", { url }, { slots: free })
      assert.equal(result.status, "error")
      assert.match(result.text, /is not on the public internet/)
      assert.equal(result.error?.recoverable, true)
    }
    assert.equal(web.asked.length, 0)
  })
})

test("fetch gives JSON and text as they are, in their encoding, and describes the rest", async () => {
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000010000000080806000000", "hex")
  const send =
    (type: string | undefined, body: string | Buffer) => (response: import("node:http").ServerResponse) =>
      void response.writeHead(200, type === undefined ? {} : { "content-type": type }).end(body)
  await using web = await site({
    "/json": send("application/json", '{"a": [1,  2]}'),
    "/api": send("application/vnd.api+json; charset=utf-8", '{"é":1}'),
    "/text": send("text/plain; charset=windows-1252", Buffer.from("caf\xe9 \x80", "latin1")),
    "/sjis": send(
      "text/html",
      Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from("93fa967b", "hex")]),
    ),
    "/utf16": send("text/plain", Buffer.from("\ufeffwide", "utf16le")),
    "/odd": send("text/plain; charset=klingon", "plain é"),
    "/png": send("image/png", png),
    "/bin": send("application/zip", Buffer.from("PK\x03\x04 and more")),
    "/lies": send("text/plain", png),
    "/sniffed": send(undefined, "<html><body><p>No type"),
    "/empty": send("text/plain", ""),
    "/script-only": send("text/html", "<html><body><div id=root></div><script>go()</script></body></html>"),
  })
  await inProject(async () => {
    const get = async (path: string) =>
      (await call("fetch", { url: web.origin + path }, { slots: granting(web) })).text
    assert.equal(await get("/json"), '{"a": [1,  2]}')
    assert.equal(await get("/api"), '{"é":1}')
    assert.equal(await get("/text"), "café €")
    assert.equal(await get("/sjis"), "日本")
    assert.equal(await get("/utf16"), "wide")
    assert.equal(await get("/odd"), "plain é")
    assert.equal(
      await get("/png"),
      `${web.origin}/png is not text: PNG image, image/png, 16 × 8 pixels, 29 bytes. Its content is not shown.`,
    )
    assert.match(await get("/bin"), /is not text: zip archive, application\/zip, 13 bytes/)
    assert.match(await get("/lies"), /is not text: PNG image, image\/png/)
    assert.equal(await get("/sniffed"), "No type")
    assert.equal(await get("/empty"), "(empty page)")
    assert.match(await get("/script-only"), /^\(No text: the page is empty, or made by scripts/)
  })
})

test("fetch unpacks gzip, br and deflate with and without header, and refuses what it did not ask for", async () => {
  const packed = (encoding: string, body: Buffer) => (response: import("node:http").ServerResponse) =>
    void response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding }).end(body)
  const text = Buffer.from("packed text ".repeat(500))
  await using web = await site({
    "/gzip": packed("gzip", gzipSync(text)),
    "/br": packed("br", brotliCompressSync(text)),
    "/deflate": packed("deflate", deflateSync(text)),
    "/raw": packed("Deflate", deflateRawSync(text)),
    "/none": packed("gzip", Buffer.alloc(0)),
    "/broken": packed("gzip", Buffer.from("this is no gzip at all")),
    "/odd": packed("compress", text),
  })
  await inProject(async () => {
    const get = (path: string) => call("fetch", { url: web.origin + path }, { slots: granting(web) })
    for (const path of ["/gzip", "/br", "/deflate", "/raw"]) {
      const result = await get(path)
      assert.equal(result.text, text.toString(), path)
      assert.equal((result.data as { bytes: number }).bytes, text.length)
    }
    assert.equal((await get("/none")).text, "(empty page)")
    assert.match((await get("/broken")).text, /could not be fetched: incorrect header check/)
    assert.match((await get("/odd")).text, /the encoding "compress"/)
    assert.equal(web.asked[0]!.headers["accept-encoding"], "gzip, br, deflate")
  })
})

test("fetch stops at 5 MB of a decompression bomb and of an endless page", async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000, "a"))
  await using web = await site({
    "/bomb": (response) =>
      void response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(bomb),
    "/endless": (response) => {
      response.writeHead(200, { "content-type": "text/plain" })
      const more = () => {
        while (!response.destroyed && response.write("b".repeat(65_536)));
      }
      response.on("drain", more)
      more()
    },
    "/large": (response) =>
      void response
        .writeHead(200, { "content-type": "application/pdf", "content-length": 9_000_000 })
        .end(Buffer.alloc(9_000_000)),
  })
  await inProject(async () => {
    const get = (path: string) => call("fetch", { url: web.origin + path }, { slots: granting(web) })
    for (const path of ["/bomb", "/endless"]) {
      const { text, data } = await get(path)
      assert.equal((data as { bytes: number }).bytes, 5_000_000)
      assert.ok(Buffer.byteLength(text) <= 50_000)
      assert.match(text, /\[only the first 5000000 bytes were read\]$/)
      const file = /all of it in (\S+),/.exec(text)![1]!
      assert.match(readFileSync(file, "utf8"), /^[ab]{5000000}\n\n\[only/)
    }
    assert.match((await get("/large")).text, /is not text: .*9000000 bytes/)
  })
})

test("fetch reports a failing status with the beginning of the page", async () => {
  await using web = await site({
    "/long": (response) =>
      void response.writeHead(500, { "content-type": "text/plain" }).end("x".repeat(9_000)),
    "/image": (response) => void response.writeHead(403, { "content-type": "image/png" }).end("x"),
  })
  await inProject(async () => {
    const get = (path: string) => call("fetch", { url: web.origin + path }, { slots: granting(web) })
    const missing = await get("/gone")
    assert.equal(missing.status, "error")
    assert.equal(
      missing.text,
      `${web.origin}/gone answered with status 404:\nNot found\n\nNo such page & no other`,
    )
    assert.match((await get("/long")).text, /status 500:\nx{500}…$/)
    assert.match((await get("/image")).text, /status 403 and nothing else\.$/)
  })
})

test("fetch follows redirects within what was granted, and says where it ended", async () => {
  await using other = await site({ "/secret": "<p>private</p>" })
  await using web = await site({
    "/old": redirect("/näxt?q=1", 301),
    "/n%C3%A4xt": redirect("./end", 307),
    "/end": "<title>End</title><p>arrived</p>",
    "/out": redirect(`${other.origin}/secret`),
    "/file": redirect("file:///etc/passwd"),
    "/user": redirect(`http://a:b@127.0.0.1:${other.port}/secret`),
    "/meta": redirect("http://169.254.169.254/latest/meta-data/"),
    "/broken": redirect("http://["),
    "/nowhere": (response) => void response.writeHead(302).end("no location"),
  })
  await inProject(async () => {
    const get = (path: string) => call("fetch", { url: web.origin + path }, { slots: granting(web) })
    const end = await get("/old")
    assert.equal(end.text, `# End\n\narrived\n\n[redirected to ${web.origin}/end]`)
    assert.equal((end.data as { finalUrl: string }).finalUrl, `${web.origin}/end`)
    assert.match((await get("/out")).text, /is not on the public internet/)
    assert.match((await get("/file")).text, /only http and https/)
    assert.match((await get("/user")).text, /had a user name or password/)
    assert.match((await get("/meta")).text, /169\.254\.169\.254 is not on the public internet/)
    assert.match((await get("/broken")).text, /a redirect led to it/)
    assert.match((await get("/nowhere")).text, /status 302/)
    assert.equal(other.asked.length, 0)
  })
})

test("fetch takes no cookie, key or referrer along a redirect, to its own origin or another", async () => {
  await using other = await site({ "/end": "<p>arrived</p>" })
  await using web = await site({
    "/": (response) =>
      void response.writeHead(307, { location: "/next", "set-cookie": "session=0123456789" }).end(),
    "/next": redirect(`${other.origin}/end`, 308),
  })
  await inProject(async () => {
    const slots = granting(web, other)
    assert.match((await call("fetch", { url: `${web.origin}/?key=secret` }, { slots })).text, /arrived/)
  })
  const names = ["accept", "accept-encoding", "connection", "host", "user-agent"]
  for (const { headers } of [...web.asked, ...other.asked])
    assert.deepEqual(Object.keys(headers).sort(), names)
  assert.deepEqual(
    [...web.asked, ...other.asked].map(({ method, url }) => `${method} ${url}`),
    ["GET /?key=secret", "GET /next", "GET /end"],
  )
})

test("fetch is interrupted at once by the signal, while it waits and while it reads", async () => {
  for (const begin of [false, true]) {
    const stop = new AbortController()
    await using web = await site({
      "/": (response) => {
        if (begin) response.writeHead(200, { "content-type": "text/html" }).write("<p>")
        response.socket!.once("close", () => closed.resolve())
        stop.abort()
      },
    })
    const closed = Promise.withResolvers<void>()
    await inProject(async () => {
      const result = await call("fetch", { url: web.origin }, { slots: granting(web), signal: stop.signal })
      assert.equal(result.status, "interrupted")
      await closed.promise
    })
  }
})

test("fetch reports a server that does not exist and one that does not speak HTTP", async () => {
  const gone = await site({})
  await gone[Symbol.asyncDispose]()
  await using web = await site({ "/": (response) => void response.socket!.end("garbage\r\n\r\n") })
  await inProject(async () => {
    const slots = granting(gone, web)
    assert.match(
      (await call("fetch", { url: gone.origin }, { slots })).text,
      /could not be fetched: .*ECONNREFUSED/,
    )
    assert.match(
      (await call("fetch", { url: web.origin }, { slots })).text,
      /could not be fetched: Parse Error/,
    )
    assert.match((await call("fetch", {}, { slots })).text, /url: missing/)
  })
})
