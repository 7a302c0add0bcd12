// Node's own modules are imported without reading all of their exports.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { withPlainBuiltins } from "../../script/plain-builtins.ts"
import { run } from "../fixture/child.ts"
import { env, fakeLlm, text } from "../fixture/fake-llm.ts"
import { noServers } from "../fixture/no-servers.ts"
import { tmpdir } from "../fixture/tmpdir.ts"
import { openXterm } from "../fixture/xterm.ts"

const dist = new URL("../../dist/", import.meta.url)

test("named imports of Node's modules become constants, and so do whole modules; others stay", () => {
  const first = 'import{a as b,c}from"node:x";import*as w from"node:w";'
  const others = 'import d from"node:y";import"node:z";import{e}from"./e.js";'
  const specifier = (imported: string, local: string, type = "ImportSpecifier") => ({
    type,
    imported: { name: imported },
    local: { name: local },
  })
  const declared = (text: string, value: string, specifiers: object[]) => {
    const start = (first + others).indexOf(text)
    return { type: "ImportDeclaration", start, end: start + text.length, source: { value }, specifiers }
  }
  const body = [
    declared('import{a as b,c}from"node:x";', "node:x", [specifier("a", "b"), specifier("c", "c")]),
    declared('import*as w from"node:w";', "node:w", [
      { type: "ImportNamespaceSpecifier", local: { name: "w" } },
    ]),
    declared('import d from"node:y";', "node:y", [specifier("default", "d", "ImportDefaultSpecifier")]),
    declared('import"node:z";', "node:z", []),
    declared('import{e}from"./e.js";', "./e.js", [specifier("e", "e")]),
  ]
  const tree = { type: "Program", start: 0, end: (first + others).length, body }
  assert.equal(
    withPlainBuiltins(first + others, tree),
    `const{a:b,c:c}=process.getBuiltinModule?.("node:x")??{};const w=process.getBuiltinModule?.("node:w")??{};${others}`,
  )
})

test("functions of node:crypto are taken when they are first called", () => {
  const code = 'import{createHash as h}from"node:crypto";'
  const specifiers = [{ type: "ImportSpecifier", imported: { name: "createHash" }, local: { name: "h" } }]
  const source = { value: "node:crypto" }
  const body = [{ type: "ImportDeclaration", start: 0, end: code.length, source, specifiers }]
  const made = withPlainBuiltins(code, { type: "Program", start: 0, end: code.length, body })
  const hashOf = new Function(`${made}return text=>h("sha256").update(text).digest("hex")`)()
  assert.equal(hashOf("abc"), createHash("sha256").update("abc").digest("hex"))
  assert.doesNotMatch(made, /const/)
})

test("the command loads neither workers nor node:crypto to show the configuration", async () => {
  await using tmp = await tmpdir()
  tmp.write("list.mjs", 'process.on("exit", () => console.error(process.moduleLoadList.join("\\n")))')
  const args = ["--import", "./list.mjs", new URL("vitamin.js", dist).pathname, "config", "show"]
  await using child = run(process.execPath, args, { cwd: tmp.path, env: tmp.env })
  assert.equal(await child.exit, 0)
  const loaded = child.errors().split("\n")
  assert.ok(loaded.includes("NativeModule fs"))
  for (const name of ["worker_threads", "crypto", "internal/crypto/webcrypto"])
    assert.ok(!loaded.includes(`NativeModule ${name}`), name)
})

for (const [where, more] of [
  ["", []],
  [" in the sandbox", ["--sandbox"]],
] as const)
  test(`a run with one answer${where} loads few of Node's modules that are slow to load`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([text("Done.")])
    tmp.write("list.mjs", 'process.on("exit", () => console.error(process.moduleLoadList.join("\\n")))')
    const args = ["--import", "./list.mjs", new URL("vitamin.js", dist).pathname, "run", ...more, "go"]
    await using child = run(process.execPath, args, {
      cwd: tmp.path,
      env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
    })
    child.process.stdin?.end()
    assert.equal(await child.exit, 0, child.errors())
    const loaded = child.errors().split("\n")
    assert.ok(loaded.includes("NativeModule http"))
    const slow = ["internal/deps/undici/undici", "https", "internal/webstreams/readablestream", "perf_hooks"]
    for (const name of [...slow, ...(more.length ? [] : ["crypto", "fs/promises"])])
      assert.ok(!loaded.includes(`NativeModule ${name}`), name)
  })

test("the interactive terminal answers a prompt without undici", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Done.")])
  const list =
    'import { writeFileSync } from "node:fs"; process.on("exit", () => writeFileSync("loaded", process.moduleLoadList.join("\\n")))'
  tmp.write("list.mjs", list)
  await using terminal = await openXterm(tmp, ["go"], {
    env: { ...noServers, ...env(llm, "chat").variables, NODE_OPTIONS: "--import=./list.mjs" },
  })
  await terminal.sees("Done.")
  await terminal.sees(/^ask · /m)
  terminal.type("\u0004")
  assert.equal(await terminal.exit, 0)
  const loaded = readFileSync(join(tmp.path, "loaded"), "utf8").split("\n")
  assert.ok(loaded.includes("NativeModule http"))
  assert.ok(!loaded.includes("NativeModule internal/deps/undici/undici"))
})

test("an old Node can load what the entry imports", async () => {
  await using tmp = await tmpdir()
  tmp.write("old.mjs", "process.getBuiltinModule = undefined")
  const args = ["--import", "./old.mjs", new URL("vitamin.js", dist).pathname, "--version"]
  await using child = run(process.execPath, args, { cwd: tmp.path, env: tmp.env })
  assert.equal(await child.exit, 0, child.errors())
})
