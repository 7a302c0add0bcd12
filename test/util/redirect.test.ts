import assert from "node:assert/strict"
import { test } from "node:test"
import { redirectTarget } from "#util/redirect.ts"

const url = new URL("http://api.test:8080/v1/messages?key=secret")
const ask = (location: string | undefined, given: { method?: string; status?: number; hops?: number } = {}) =>
  redirectTarget({ url, method: "POST", status: 307, hops: 0, setting: "the setting", location, ...given })
    ?.href

test("redirectTarget() returns the next URL for every spelling of the same origin", () => {
  const spellings = {
    "/there": "http://api.test:8080/there",
    "?again": "http://api.test:8080/v1/messages?again",
    "./there": "http://api.test:8080/v1/there",
    "//api.test:8080/there": "http://api.test:8080/there",
    "HTTP://API.TEST:8080/there": "http://api.test:8080/there",
    "http://api.test:08080/there": "http://api.test:8080/there",
    "\\there": "http://api.test:8080/there",
    "\t/there": "http://api.test:8080/there",
  }
  for (const [location, target] of Object.entries(spellings)) assert.equal(ask(location), target, location)
  for (const status of [307, 308]) assert.equal(ask("/there", { status }), "http://api.test:8080/there")
  for (const status of [301, 302, 303, 307, 308])
    assert.equal(ask("/there", { status, method: "GET" }), "http://api.test:8080/there")
})

test("redirectTarget() refuses every spelling of another origin, whatever the method and the status", () => {
  const foreign = [
    "http://other.test:8080/v1",
    "https://api.test:8080/v1",
    "http://api.test/v1",
    "http://api.test:8081/v1",
    "http://api.test.:8080/v1",
    "http://sub.api.test:8080/v1",
    "http://api.test:8080@other.test/v1",
    "http://api.test%3A8080@other.test/v1",
    "//other.test:8080/v1",
    "\\\\other.test:8080\\v1",
    "/\\other.test:8080/v1",
    "\t//other.test:8080/v1",
    "https:api.test:8080/v1",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:1",
  ]
  for (const location of foreign)
    for (const method of ["GET", "POST"])
      for (const status of [301, 302, 303, 307, 308])
        assert.throws(() => ask(location, { method, status }), { name: "RedirectRefused" }, location)
})

test("redirectTarget() names both origins and the setting, and no path or query", () => {
  assert.throws(() => ask("https://other.test/v1?key=secret"), {
    message:
      "http://api.test:8080 redirects (307) to another origin, https://other.test. Nothing was sent there: keys and requests stay with the origin that was configured. If that is the right server, set the setting to its address.",
    data: { from: "http://api.test:8080", to: "https://other.test" },
  })
})

test("redirectTarget() refuses user info, a dropped method, an invalid URL, and the sixth hop", () => {
  assert.throws(() => ask("http://a:b@api.test:8080/v1"), { message: /a user name or password/ })
  for (const status of [301, 302, 303])
    assert.throws(() => ask("/there", { status }), {
      message: /POST request with redirect \d+, which would drop/,
    })
  assert.throws(() => ask("http://["), { message: /redirects to an invalid URL/ })
  assert.equal(ask("/there", { hops: 4 }), "http://api.test:8080/there")
  assert.throws(() => ask("/there", { hops: 5 }), { message: /redirects more than 5 times/ })
})

test("redirectTarget() returns undefined for other answers", () => {
  for (const status of [200, 204, 300, 304, 305, 400, 500])
    assert.equal(ask("http://other.test", { status }), undefined)
  assert.equal(ask(undefined), undefined)
  assert.equal(ask(""), undefined)
})
