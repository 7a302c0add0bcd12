// A program that imports the built package and persists data itself: maps with initial data and `onPersist`, in its
// own files.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { run } from "./fixture/child.ts"
import { type Tmp, tmpdir } from "./fixture/tmpdir.ts"

const library = JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))

/** A process of its own each time: what it prints as its last line, as JSON. */
async function program(tmp: Tmp, body: string): Promise<unknown> {
  const file = tmp.write(
    "program.mjs",
    `import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createRelationStore, createSemanticCache } from ${library}
const kept = (name) => (existsSync(name) ? JSON.parse(readFileSync(name, "utf8")) : [])
const onPersist = (name) => (all) => writeFileSync(name, JSON.stringify(all))
${body}`,
  )
  await using child = run(process.execPath, [file], { cwd: tmp.path, env: tmp.env })
  assert.equal(await child.exit, 0, child.errors())
  return JSON.parse(child.lines.at(-1)!)
}

test("map modules take initial data and onPersist, and write nothing of their own", async () => {
  await using tmp = await tmpdir()
  const store = `createRelationStore({ initialNodes: kept("nodes.json"), onPersist: onPersist("nodes.json") })`
  const node = (id: string, parents: string[]) =>
    JSON.stringify({ id, parents, edgeType: "plan", context: { description: id } })
  await program(
    tmp,
    `const store = ${store}
store.add(${node("goal", [])})
store.add(${node("step", ["goal"])})
await store.persist()
console.log("[]")`,
  )
  const seen = await program(
    tmp,
    `const store = ${store}
console.log(JSON.stringify({ size: store.size(), children: store.children("goal").map(({ id }) => id) }))`,
  )
  assert.deepEqual(seen, { size: 2, children: ["step"] })
  assert.ok(Array.isArray(JSON.parse(readFileSync(join(tmp.path, "nodes.json"), "utf8"))))
  for (const home of ["XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"])
    assert.ok(!existsSync(join(tmp.env[home]!, "vitamin")), `${home} has something of the store`)
})

test("createSemanticCache() reuses an answer for a similar request in a later process, until its TTL", async () => {
  await using tmp = await tmpdir()
  const make = (ttl: number) =>
    `createSemanticCache({ ttlMs: ${ttl}, initialEntries: kept("answers.json"), onPersist: onPersist("answers.json") })`
  await program(
    tmp,
    `const cache = ${make(60_000)}
await cache.store("merge main into dev", "merged")
await cache.persist()
console.log("[]")`,
  )
  const ask = (ttl: number) =>
    program(
      tmp,
      `const cache = ${make(ttl)}
const found = []
for (const query of ["Could you please merge main into dev?", "merge dev into main"]) {
  const { hit, match, entry } = await cache.lookup(query)
  found.push([hit, match ?? "", entry?.response ?? ""])
}
console.log(JSON.stringify(found))`,
    )
  assert.deepEqual(await ask(60_000), [
    [true, "similar", "merged"],
    [false, "", ""],
  ])
  assert.deepEqual(await ask(1), [
    [false, "", ""],
    [false, "", ""],
  ])
})
