// Pages that are not fetched twice, through the gate, with servers on loopback.
import assert from "node:assert/strict"
import { afterEach, beforeEach, mock, test } from "node:test"
import { freshFor } from "#ability/web/get-page.ts"
import { call, inProject } from "../tool/harness.ts"
import { granting, redirect, type Site, site } from "./pages.ts"

const fetched = async (web: Site, path: string, slots = granting(web)) => {
  const result = await call("fetch", { url: `${web.origin}${path}` }, { slots })
  assert.equal(result.status, "success", result.text)
  return result
}

// A machine under load takes its time, and these pages are kept for ten seconds.
beforeEach(() => mock.timers.enable({ apis: ["Date"], now: Date.now() }))
afterEach(() => mock.timers.reset())

test("fetch returns a recent page from the cache, and says so", async () => {
  let version = 0
  await using web = await site({ "/a": (response) => void response.end(`version ${++version}`) })
  await inProject(async () => {
    const first = await fetched(web, "/a?x=1")
    assert.equal(first.text, "version 1")
    const second = await fetched(web, "/a?x=1")
    assert.match(
      second.text,
      /^version 1\n\n\[not fetched again: this is the page of \d+ s ago; add "#again" to the URL/,
    )
    assert.equal((second.data as { age: number }).age >= 0, true)
    assert.equal((second.data as { status: number }).status, 200)
    assert.equal((await fetched(web, "/a?x=2")).text, "version 2")
    assert.equal((await fetched(web, "/a?x=1#again")).text, "version 3")
    assert.equal((await fetched(web, "/a?x=1#again")).text, "version 4")
    assert.match((await fetched(web, "/a?x=1")).text, /^version 4\n\n\[not fetched again/)
    assert.equal(web.asked.length, 4)
  })
})

test("an expired page is fetched again; pages of this machine expire soon", async () => {
  await using web = await site({
    "/a": "<p>one</p>",
    "/b": (response) => void response.setHeader("cache-control", "max-age=3").end("two"),
  })
  await inProject(async () => {
    for (const path of ["/a", "/b", "/a", "/b"]) await fetched(web, path)
    assert.equal(web.asked.length, 2)
    mock.timers.tick(4_000)
    for (const path of ["/a", "/b"]) await fetched(web, path)
    assert.equal(web.asked.length, 3)
    mock.timers.tick(10_000)
    await fetched(web, "/a")
    assert.equal(web.asked.length, 4)
  })
})

test("pages marked no-cache and failed requests are not cached", async () => {
  const saying =
    (headers: Record<string, string>, status = 200) =>
    (response: import("node:http").ServerResponse) =>
      void response.writeHead(status, headers).end("text")
  const pages = {
    "/no-store": saying({ "cache-control": "private, no-store" }),
    "/no-cache": saying({ "cache-control": "No-Cache" }),
    "/zero": saying({ "cache-control": "public, max-age=0" }),
    "/pragma": saying({ pragma: "no-cache" }),
    "/expired": saying({ expires: "0" }),
    "/varies": saying({ vary: "*" }),
    "/moved": (response: import("node:http").ServerResponse) =>
      void response.writeHead(302, { location: "/plain", "cache-control": "no-store" }).end(),
  }
  await using web = await site({ ...pages, "/plain": saying({}), "/gone": saying({}, 500) })
  await inProject(async () => {
    for (const path of Object.keys(pages)) {
      const before = web.asked.filter(({ url }) => url === path).length
      for (let time = 0; time < 2; time++)
        assert.doesNotMatch((await fetched(web, path)).text, /not fetched again/)
      assert.equal(web.asked.filter(({ url }) => url === path).length, before + 2)
    }
    for (let time = 0; time < 2; time++)
      assert.equal(
        (await call("fetch", { url: `${web.origin}/gone` }, { slots: granting(web) })).status,
        "error",
      )
    assert.equal(web.asked.filter(({ url }) => url === "/gone").length, 2)
  })
})

test("a cached page is used only with the same rights: permission, private origins and redirects are judged each time", async () => {
  await using other = await site({ "/there": "<p>secret</p>" })
  await using web = await site({ "/a": "<p>page</p>", "/go": redirect(`${other.origin}/there`) })
  await inProject(async () => {
    for (const path of ["/a", "/go"]) await fetched(web, path, granting(web, other))
    const refused = await call(
      "fetch",
      { url: `${web.origin}/a` },
      { slots: { permit: () => ({ message: "no" }) } },
    )
    assert.equal(refused.refused, "permission")
    const narrow = await call("fetch", { url: `${web.origin}/go` }, { slots: granting(web) })
    assert.match(narrow.text, /not on the public internet/)
    const granted = [web.origin, other.origin]
    const judge = ({ target }: { target: string }) =>
      (target.startsWith(other.origin) ? "deny" : "allow") as "deny"
    const judged = await call(
      "fetch",
      { url: `${web.origin}/go` },
      { slots: { permit: () => ({ granted, judge }) } },
    )
    assert.equal(judged.status, "error")
    assert.match(judged.text, /the rules deny that/)
    assert.match((await fetched(web, "/go", granting(other, web))).text, /secret.*not fetched again/s)
  })
})

test("pages are cached per instance", async () => {
  await using web = await site({ "/a": "<p>page</p>" })
  await inProject(async () => {
    await fetched(web, "/a")
    await fetched(web, "/a")
  })
  await inProject(async () => {
    await fetched(web, "/a")
  })
  assert.equal(web.asked.length, 2)
})

test("freshFor() reads the caching headers", () => {
  assert.equal(freshFor({}), Number.POSITIVE_INFINITY)
  assert.equal(freshFor({ "cache-control": "public, max-age=60" }), 60_000)
  assert.equal(freshFor({ "cache-control": "s-maxage=60" }), Number.POSITIVE_INFINITY)
  assert.equal(
    freshFor({ "cache-control": "public", expires: new Date(Date.now() - 5_000).toUTCString() }),
    0,
  )
  assert.ok(freshFor({ expires: new Date(Date.now() + 60_000).toUTCString() }) > 1_000)
})
