// Trust is given by a person, for one work tree only.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

afterEach(() => Storage.close())

test("Trust.grant() is stored, and applies to the whole work tree", async () => {
  await using tmp = await tmpdir({ git: true })
  const sub = join(tmp.path, "src/deep")
  mkdirSync(sub, { recursive: true })
  assert.equal(await Trust.check(tmp.path), false)
  assert.equal(await Trust.grant(sub), tmp.path)
  await Storage.close()
  assert.equal(await Trust.check(tmp.path), true)
  assert.equal(await Trust.check(sub), true)
})

test("Trust.grant() for this process is not stored", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path, { keep: false })
  assert.equal(await Trust.check(tmp.path), true)
  assert.deepEqual(await Trust.list(), [])
  await Trust.remove(tmp.path)
  assert.equal(await Trust.check(tmp.path), false)
})

test("Trust.accept() for this process keeps two concurrent reviews", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const name of ["a", "b", "c"])
    tmp.write(`.vitamin/agents/${name}.md`, `---\ndomain: d\n---\n${name}\n`)
  const changes = await Trust.pending(tmp.path)
  assert.equal(changes.length, 3)
  await Promise.all(changes.map((change) => Trust.accept(tmp.path, [change], { keep: false })))
  assert.deepEqual(await Trust.pending(tmp.path), [])
  await Trust.remove(tmp.path)
})

test("Trust.remove() removes trust, and does nothing if there is none", async () => {
  await using tmp = await tmpdir({ git: true })
  assert.equal(await Trust.remove(tmp.path), tmp.path)
  await Trust.grant(tmp.path)
  await Trust.grant(tmp.path, { keep: false })
  await Trust.remove(tmp.path)
  assert.equal(await Trust.check(tmp.path), false)
})

test("Trust.accept() keeps two concurrent reviews, and deny rules that are recorded meanwhile", async () => {
  await using tmp = await tmpdir({ git: true })
  const names = Array.from({ length: 6 }, (_, i) => `.vitamin/agents/a${i}.md`)
  for (const name of names) tmp.write(name, `---\ndomain: d\n---\n${name}\n`)
  const rule = { permission: "file.edit", pattern: "*", action: "deny" as const }
  tmp.write(".vitamin/config.jsonc", JSON.stringify({ permission: [rule] }))
  const changes = await Trust.pending(tmp.path)
  const config = changes.find(({ path }) => path === ".vitamin/config.jsonc")!
  await Trust.accept(tmp.path, [config])
  const reviewed = await Reviewed.of(tmp.path)
  const file = join(tmp.path, config.path)
  await Promise.all([
    ...changes.filter((change) => change !== config).map((change) => Trust.accept(tmp.path, [change])),
    reviewed.keepNarrowing(file, config.after!, { "": [rule] }),
  ])
  assert.deepEqual(await Trust.pending(tmp.path), [])
  assert.deepEqual((await Reviewed.of(tmp.path)).narrowing(file), { "": [rule] })
})

test("Trust.list() returns the trusted folders with their times", async () => {
  await using tmp = await tmpdir()
  const [a, b] = [join(tmp.path, "a"), join(tmp.path, "b")]
  const before = Date.now()
  for (const folder of [a, b]) {
    mkdirSync(folder)
    await Trust.grant(folder)
  }
  const grants = await Trust.list()
  assert.deepEqual(grants.map(({ directory }) => directory).sort(), [a, b])
  for (const { time } of grants) assert.ok(time >= before && time <= Date.now())
})

test("Trust of a folder outside git covers that folder only", async () => {
  await using tmp = await tmpdir()
  const sub = join(tmp.path, "sub")
  mkdirSync(sub)
  await Trust.grant(tmp.path)
  assert.equal(await Trust.check(tmp.path), true)
  assert.equal(await Trust.check(sub), false)
  assert.equal(await Trust.check(join(tmp.path, "..")), false)
})

test("Trust does not cover a repository inside a trusted one, nor the outer one", async () => {
  await using tmp = await tmpdir({ git: true })
  const nested = join(tmp.path, "vendor/nested")
  mkdirSync(nested, { recursive: true })
  tmp.git("init", "-q", nested)
  await Trust.grant(tmp.path)
  assert.equal(await Trust.check(nested), false)
  await Trust.remove(tmp.path)
  await Trust.grant(nested)
  assert.equal(await Trust.check(tmp.path), false)
  assert.equal(await Trust.check(nested), true)
})

test("a .git file that points at a trusted repository gives no trust", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path)
  const [byFile, byLink, worktree] = ["by-file", "by-link", "worktree"].map((name) =>
    join(tmp.path, "..", name),
  )
  for (const folder of [byFile, byLink]) mkdirSync(folder!)
  writeFileSync(join(byFile!, ".git"), `gitdir: ${join(tmp.path, ".git")}\n`)
  symlinkSync(join(tmp.path, ".git"), join(byLink!, ".git"))
  tmp.git("worktree", "add", "-q", "-b", "other", worktree!)
  for (const folder of [byFile, byLink, worktree]) assert.equal(await Trust.check(folder!), false, folder)
})

test("Trust follows a symlink to the folder itself", async () => {
  await using tmp = await tmpdir({ git: true })
  const link = join(tmp.path, "../link")
  symlinkSync(tmp.path, link)
  assert.equal(await Trust.grant(link), tmp.path)
  assert.equal(await Trust.check(tmp.path), true)
  const other = join(tmp.path, "../other")
  mkdirSync(other)
  symlinkSync(other, join(tmp.path, "out"))
  assert.equal(await Trust.check(join(tmp.path, "out")), false)
})

test("Trust.check() ignores a broken record, or one that names another folder", async () => {
  await using tmp = await tmpdir({ git: true })
  await Trust.grant(tmp.path)
  const [name] = await Storage.list(["trust"])
  await Storage.write(["trust", name!], { directory: "/", time: 1 })
  assert.equal(await Trust.check(tmp.path), false)
  await Storage.write(["trust", name!], null)
  assert.equal(await Trust.check(tmp.path), false)
  assert.deepEqual(await Trust.list(), [])
})

test("Trust.grant() and remove() refuse a path that is not a directory", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write("file", "")
  for (const change of [Trust.grant, Trust.remove]) {
    await assert.rejects(change("/nope"), {
      name: "Trust.InvalidDirectory",
      message: /^"\/nope" does not exist/,
      data: { directory: "/nope" },
    })
    await assert.rejects(change(file), { name: "Trust.InvalidDirectory", message: /is not a directory/ })
  }
  assert.deepEqual(await Trust.list(), [])
})

test("Trust.pending() names new, changed and removed files, and accept() takes single files", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", "{}")
  tmp.write(".mcp.json", "{}")
  await Trust.grant(tmp.path)
  assert.deepEqual(await Trust.pending(tmp.path), [])
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }')
  rmSync(join(tmp.path, ".mcp.json"))
  tmp.write(".vitamin/agents/one.md", "---\n---\n")
  const changes = await Trust.pending(tmp.path)
  assert.deepEqual(
    changes.map(({ path, state, before, after }) => [path, state, before, after?.toString()]),
    [
      [".mcp.json", "removed", "{}", undefined],
      [".vitamin/agents/one.md", "new", undefined, "---\n---\n"],
      [".vitamin/config.jsonc", "changed", "{}", '{ "model": "a/b" }'],
    ],
  )
  await Trust.accept(tmp.path, [changes[2]!])
  assert.deepEqual(
    (await Trust.pending(tmp.path)).map(({ path }) => path),
    [".mcp.json", ".vitamin/agents/one.md"],
  )
})

test("Trust.accept() trusts the content that was shown, not a later one", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/shown" }')
  const shown = await Trust.pending(tmp.path)
  const file = tmp.write(".vitamin/config.jsonc", '{ "model": "a/swapped" }')
  await Trust.accept(tmp.path, shown)
  const reviewed = await Reviewed.of(tmp.path)
  assert.equal(reviewed.refusal(file, Buffer.from('{ "model": "a/shown" }')), undefined)
  assert.match(reviewed.refusal(file, readFileSync(file)) ?? "", /it changed/)
})

test("Trust.grant() for this process covers current files, not later ones", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".vitamin/config.jsonc", "{}")
  await Trust.grant(tmp.path, { keep: false })
  const reviewed = await Reviewed.of(tmp.path)
  assert.equal(reviewed.refusal(file, Buffer.from("{}")), undefined)
  assert.match(reviewed.refusal(file, Buffer.from("{ }")) ?? "", /it changed/)
  await Trust.remove(tmp.path)
})

test("a grant without files covers nothing", async () => {
  await using tmp = await tmpdir()
  await Trust.grant(tmp.path)
  const [name] = await Storage.list(["trust"])
  await Storage.write(["trust", name!], { directory: tmp.path, time: 1 })
  assert.equal(await Trust.check(tmp.path), false)
  assert.deepEqual(await Trust.list(), [])
  const reviewed = await Reviewed.of(tmp.path)
  assert.match(reviewed.refusal(tmp.path, "") ?? "", /is not trusted; "vitamin trust"/)
  await Trust.grant(tmp.path)
  assert.equal(await Trust.check(tmp.path), true)
})

test("Trust.pending() covers every file that can make something run, and what these import or name as a command", async () => {
  await using tmp = await tmpdir({ git: true })
  const skill =
    "---\nname: a\ndescription: Does a.\nmcp: { s: { command: node serve.js } }\n---\nSee notes.js.\n"
  const covered = {
    ".vitamin/config.jsonc":
      '{ "mcp": { "servers": [{ "id": "a", "name": "a", "transport": "stdio", "command": ["./bin/a.sh"] }] } }',
    ".vitamin/config.ts":
      'import "../lib/one.ts"\nexport default { skills: { root: "abilities" }, mcp: { servers: [{ command: ["node", "srv.js"], cwd: "tools" }] } }',
    ".plaited/config.ts": "export default {}",
    "lib/one.ts": 'export * from "./two.ts"\nconst later = () => import("./three.mjs")',
    "lib/two.ts": "",
    "lib/three.mjs": "",
    "tools/srv.js": 'require("./part.cjs")\nrequire("./bare")\nimport "./source.js"',
    "tools/part.cjs": "",
    "tools/bare/index.js": "",
    "tools/source.ts": "",
    "bin/a.sh": "",
    ".vitamin/mcp.json": '{ "servers": [{ "name": "b", "command": "node scripts/b.ts" }] }',
    "scripts/b.ts": "",
    ".mcp.json": '{ "mcpServers": { "c": { "command": "./run", "args": ["memory.json"] } } }',
    run: "#!/bin/sh\n",
    ".vitamin/agents/a.md": "---\n---\n",
    ".vitamin/agents/b.yaml": "id: b\n",
    ".vitamin/agents/c.ts": 'import "../../lib/agent.ts"',
    "lib/agent.ts": "",
    "skills/a/SKILL.md": skill,
    "skills/a/serve.js": "",
    "skills/a/scripts/deep/run.sh": "",
    ".claude/skills/b/SKILL.md": skill.replace("name: a", "name: b"),
    "abilities/d/SKILL.md": skill.replace("name: a", "name: d"),
    "abilities/d/scripts/x.py": "",
    "packages/app/.agents/skills/e/SKILL.md": skill.replace("name: a", "name: e"),
  }
  const other = [
    "lib/other.ts",
    "skills/a/notes.js",
    "memory.json",
    "src/x.ts",
    "node_modules/p/index.js",
    "README.md",
  ]
  for (const [path, content] of Object.entries(covered)) tmp.write(path, content)
  for (const path of other) tmp.write(path, "x")
  const found = (await Trust.pending(join(tmp.path, "packages/app"))).map(({ path }) => path)
  assert.deepEqual(found, Object.keys(covered).sort())
})
