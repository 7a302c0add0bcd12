import assert from "node:assert/strict"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { check, draw, figures, withGraph } from "../../script/architecture.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const document = new URL("../../ARCHITECTURE.md", import.meta.url)

test("src/ keeps its layers, has no cycle, and imports packages only where they belong", () => {
  assert.deepEqual(check(), [])
})

test("ARCHITECTURE.md shows the graph as it is (node script/architecture.ts --write draws it)", () => {
  const text = readFileSync(document, "utf8")
  assert.equal(withGraph(text), text)
})

for (const [name, files, problem] of [
  [
    "an import that points up",
    { "kernel/a.ts": 'import { b } from "#edge/cli/b.ts"' },
    /kernel\/a\.ts imports edge\/cli\/b\.ts, which is above/,
  ],
  ["a dynamic import that points up", { "util/a.ts": 'await import("#kernel/b.ts")' }, /which is above it/],
  [
    "a type import that points up",
    { "util/a.ts": 'import type { B } from "#kernel/b.ts"' },
    /which is above it/,
  ],
  [
    "an import of a folder that is above in the same area",
    { "ability/call/judge/a.ts": 'import { b } from "#ability/call/b.ts"' },
    /judge\/a\.ts imports ability\/call\/b\.ts, which is above/,
  ],
  [
    "an import past the entry files of an area",
    { "engine/turn/a.ts": 'import { b } from "#ability/call/judge/b.ts"' },
    /turn\/a\.ts imports ability\/call\/judge\/b\.ts, past the entry files of ability\/call/,
  ],
  [
    "a cycle",
    { "util/a.ts": 'import "./b.ts"', "util/b.ts": 'export { a } from "./a.ts"' },
    /cycle: util\/a\.ts → util\/b\.ts → util\/a\.ts/,
  ],
  ["a file in no layer", { "other/a.ts": "" }, /other\/a\.ts belongs to no layer/],
  ["a wrong alias", { "kernel/a.ts": 'import * as Store from "./global-bus.ts"' }, /expected "GlobalBus"/],
  [
    "a package in a foreign folder",
    { "kernel/a.ts": 'import { Hono } from "hono"' },
    /hono, which belongs to edge\/server/,
  ],
  [
    "a package without an owner",
    { "kernel/a.ts": 'import x from "left-pad/lib"' },
    /left-pad, which has no owner/,
  ],
  ["a climbing import", { "kernel/b/c/a.ts": 'import "../../d.ts"' }, /imports by a path with/],
] as const)
  test(`script/architecture.ts finds ${name}`, async () => {
    await using tmp = await tmpdir()
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tmp.path, "src", file)), { recursive: true })
      writeFileSync(join(tmp.path, "src", file), text)
    }
    assert.match(check(tmp.path).join("\n"), problem)
  })

test("script/architecture.ts counts folders that import each other by types", async () => {
  await using tmp = await tmpdir()
  for (const [file, text] of Object.entries({
    "kernel/a.ts": 'import { b } from "#kernel/config/b.ts"',
    "kernel/config/b.ts": 'import type { A } from "#kernel/a.ts"',
  })) {
    mkdirSync(dirname(join(tmp.path, "src", file)), { recursive: true })
    writeFileSync(join(tmp.path, "src", file), text)
  }
  assert.match(figures(tmp.path).join("\n"), /2 folders in a cycle: kernel, kernel\/config/)
  assert.match(figures(tmp.path).join("\n"), /0 imports reach past the entry files/)
})

test("script/architecture.ts counts imports past the entry files of an area", async () => {
  await using tmp = await tmpdir()
  for (const [file, text] of Object.entries({
    "ability/mcp/client/connect.ts": "export const connect = 1",
    "ability/mcp/mcp.ts": 'export { connect } from "./client/connect.ts"',
    "engine/turn/loop.ts": 'import { connect } from "#ability/mcp/client/connect.ts"',
    "engine/turn/turn.ts": 'import { connect } from "#ability/mcp/mcp.ts"',
  })) {
    mkdirSync(dirname(join(tmp.path, "src", file)), { recursive: true })
    writeFileSync(join(tmp.path, "src", file), text)
  }
  assert.match(figures(tmp.path).join("\n"), /1 imports reach past the entry files/)
})

test("script/architecture.ts draws no arrow that a longer way implies", async () => {
  await using tmp = await tmpdir()
  for (const [file, text] of Object.entries({
    "edge/server/a.ts": 'import "#kernel/b.ts"\nimport "#util/c.ts"',
    "kernel/b.ts": 'import "#util/c.ts"',
    "util/c.ts": "",
  })) {
    mkdirSync(dirname(join(tmp.path, "src", file)), { recursive: true })
    writeFileSync(join(tmp.path, "src", file), text)
  }
  assert.equal(draw(tmp.path).match(/-->/g)?.length, 2)
})

test("src/edge sends prompts only through Agent.process()", () => {
  const root = new URL("../../src/edge/", import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  )
  const past = files.filter((name) =>
    /\bSession\.(prompt|accept)\(/.test(readFileSync(new URL(name, root), "utf8")),
  )
  assert.ok(files.length > 100)
  assert.deepEqual(past, [])
})
