// The files of `dist/`: whoever needs a part of the program must not get the server with it.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"

const dist = new URL("../../dist/", import.meta.url)

test("only what serves loads the server's file", () => {
  const files = readdirSync(dist).filter((name) => name.endsWith(".js"))
  const server = files.filter((name) => /^server-.{8}\.js$/.test(name))
  assert.equal(server.length, 1)
  const loading = files.filter((name) =>
    readFileSync(new URL(name, dist), "utf8").includes(`from"./${server[0]}"`),
  )
  assert.deepEqual(loading.map((name) => name.replace(/-.{8}\.js$/, "")).sort(), ["mcp-serve", "serve"])
})
