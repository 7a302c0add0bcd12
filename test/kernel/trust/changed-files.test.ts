// The configuration of a trusted folder after its files changed: the last trusted deny and ask rules apply, and
// settings that an untrusted folder may have. Unreviewed code does not run.
import assert from "node:assert/strict"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { importModule } from "#kernel/config/typescript.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

afterEach(() => Storage.close())

const rule = (action: string, pattern: string) => ({ permission: "file.write", pattern, action })
const jsonc = (...permission: object[]) => JSON.stringify({ permission, snapshot: false })

/** Trust a folder and use it once. */
async function trust(tmp: Tmp): Promise<void> {
  await Trust.grant(tmp.path)
  await Config.inspect({ directory: tmp.path })
}

test("a changed config.jsonc keeps its last trusted deny rules, after its new deny and ask rules", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", jsonc(rule("deny", "a"), rule("allow", "b")))
  await trust(tmp)
  tmp.write(".vitamin/config.jsonc", jsonc(rule("allow", "**"), rule("deny", "c"), rule("ask", "a")))
  const { config, ignored } = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(config.permission, [rule("deny", "c"), rule("ask", "a"), rule("deny", "a")])
  assert.equal(config.snapshot, undefined)
  assert.deepEqual(
    ignored.map(({ key, reason }) => [key, reason]),
    ["permission[0]", "snapshot"].map((key) => [
      key,
      'it changed since it was reviewed; "vitamin trust" shows the difference',
    ]),
  )
  await trust(tmp)
  const after = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(after.config.permission, [rule("allow", "**"), rule("deny", "c"), rule("ask", "a")])
})

test("a removed config.jsonc keeps its last trusted deny rules until the removal was reviewed", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".vitamin/config.jsonc", jsonc(rule("deny", "a"), rule("allow", "b")))
  await trust(tmp)
  rmSync(file)
  const { config, warnings } = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(config, { permission: [rule("deny", "a")] })
  assert.match(
    warnings.join("\n"),
    /config\.jsonc was removed since it was reviewed; its deny and ask rules stay/,
  )
  await Trust.grant(tmp.path)
  assert.deepEqual((await Config.inspect({ directory: tmp.path })).config, {})
})

for (const change of ["changed", "removed"])
  test(`a ${change} config.jsonc keeps its last trusted ask rules, which override no deny rule`, async () => {
    await using tmp = await tmpdir()
    const rules = [rule("deny", "a"), rule("allow", "b"), rule("ask", "**")]
    const file = tmp.write(".vitamin/config.jsonc", jsonc(...rules))
    await trust(tmp)
    if (change === "removed") rmSync(file)
    else tmp.write(".vitamin/config.jsonc", jsonc(rule("allow", "**"), rule("deny", "c")))
    const { config } = await Config.inspect({ directory: tmp.path })
    const added = change === "removed" ? [] : [rule("deny", "c")]
    assert.deepEqual(config.permission, [rule("ask", "**"), ...added, rule("deny", "a")])
  })

test("the ask rules of a changed config.ts come after the rules of the file that replaces it", async () => {
  await using tmp = await tmpdir()
  const code = (...rules: object[]) => `export default { permission: ${JSON.stringify(rules)} }`
  tmp.write(".plaited/config.ts", code(rule("allow", "**")))
  tmp.write(".vitamin/config.ts", code(rule("ask", "a"), rule("deny", "b")))
  await trust(tmp)
  tmp.write(".vitamin/config.ts", code())
  const { config } = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(config.permission, [rule("allow", "**"), rule("ask", "a"), rule("deny", "b")])
})

for (const change of ["changed", "removed"])
  test(`a ${change} config.ts keeps its last trusted deny rules, and its code does not run`, async () => {
    await using tmp = await tmpdir()
    const mark = join(tmp.path, "ran")
    const file = tmp.write(
      ".vitamin/config.ts",
      `export default { model: "a/b", permission: ${JSON.stringify([rule("deny", "a"), rule("allow", "b")])} }`,
    )
    await trust(tmp)
    if (change === "removed") rmSync(file)
    else
      tmp.write(
        ".vitamin/config.ts",
        `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(mark)}, "")\nexport default {}`,
      )
    const { config } = await Config.inspect({ directory: tmp.path })
    assert.deepEqual(config, { permission: [rule("deny", "a")] })
    assert.equal(existsSync(mark), false)
  })

test("an unreviewed config.ts does not replace a reviewed one", async () => {
  await using tmp = await tmpdir()
  tmp.write(".plaited/config.ts", 'export default { model: "a/reviewed" }')
  await trust(tmp)
  tmp.write(".vitamin/config.ts", 'export default { model: "a/planted" }')
  const { config, ignored } = await Config.inspect({ directory: tmp.path })
  assert.equal(config.model, "a/reviewed")
  assert.deepEqual(
    ignored.map(({ key, reason }) => [key, reason]),
    [[".vitamin/config.ts", 'it is new since the folder was reviewed; "vitamin trust" shows it']],
  )
})

for (const [kind, parent, name, content] of [
  ["a module", 'import "../lib/helper.ts"', "lib/helper.ts", "export const a: number = 1"],
  ["a module of a module", 'import "../lib/first.ts"', "lib/second.mjs", "export const b = 1"],
  ["a module that is imported later", 'await import("../lib/helper.ts")', "lib/helper.ts", "export {}"],
  ["a CommonJS module", 'import "../lib/one.cjs"', "lib/one.cjs", "exports.a = 1"],
  ["what a CommonJS module requires", 'import "../lib/needs.cjs"', "lib/two.cjs", "exports.a = 1"],
  ["a module under another name of the package", 'import "#lib/helper.ts"', "lib/helper.ts", "export {}"],
] as const)
  test(`config.ts is not used if ${kind} that it imports has changed, and none of that code runs`, async () => {
    await using tmp = await tmpdir()
    const mark = join(tmp.path, "ran")
    tmp.write("package.json", '{ "imports": { "#lib/*": "./lib/*" } }')
    tmp.write("lib/first.ts", 'import "./second.mjs"')
    tmp.write("lib/second.mjs", "")
    tmp.write("lib/needs.cjs", 'require("./two.cjs")')
    tmp.write("lib/two.cjs", "")
    tmp.write(name, content)
    tmp.write(".vitamin/config.ts", `${parent}\nexport default { model: "a/b" }`)
    await Trust.grant(tmp.path, { also: [join(tmp.path, "lib")] })
    const evil = `process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(mark)}, "")`
    tmp.write(name, evil)
    const { config, ignored } = await Config.inspect({ directory: tmp.path })
    assert.equal(config.model, undefined)
    assert.match(
      ignored[0]?.reason ?? "",
      new RegExp(`^it imports ${name}: it changed since it was reviewed`),
    )
    assert.equal(existsSync(mark), false)
    tmp.write(name, content)
    assert.equal((await Config.inspect({ directory: tmp.path })).config.model, "a/b")
  })

test("a module that is swapped between the check and the import does not run", async () => {
  await using tmp = await tmpdir()
  const mark = join(tmp.path, "ran")
  const file = tmp.write(".vitamin/config.ts", "export default {}")
  await Trust.grant(tmp.path)
  const reviewed = await Reviewed.of(tmp.path)
  const bytes = Buffer.from("export default {}")
  assert.equal(reviewed.refusal(file, bytes), undefined)
  tmp.write(".vitamin/config.ts", `process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(mark)}, "")`)
  await assert.rejects(importModule(file, bytes, { reviewed }), { name: "Trust.Unreviewed" })
  assert.equal(existsSync(mark), false)
})

test("deny rules of an earlier content are not recorded for the current one", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".vitamin/config.jsonc", jsonc(rule("deny", "a")))
  await Trust.grant(tmp.path)
  const earlier = await Reviewed.of(tmp.path)
  const bytes = Buffer.from(jsonc(rule("deny", "a")))
  tmp.write(".vitamin/config.jsonc", "{}")
  await Trust.grant(tmp.path)
  await earlier.keepNarrowing(file, bytes, { "": [{ ...rule("deny", "a"), action: "deny" }] })
  assert.deepEqual((await Reviewed.of(tmp.path)).narrowing(file), {})
})
