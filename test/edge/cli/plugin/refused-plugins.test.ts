// What is refused: plugins and archives that lead out of their folder, names that are none, and a model that installs one.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { command, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { beside, demo, type Files, writeFiles } from "./harness.ts"

const bad: Record<string, { files: Files; prepare?: (folder: string) => void; says: RegExp }> = {
  "a manifest with a path outside": {
    files: { ".claude-plugin/plugin.json": '{"name":"x","commands":"../secret"}', "commands/a.md": "A" },
    says: /the path "\.\.\/secret" leads out of the plugin/,
  },
  "a manifest with an absolute path": {
    files: { ".claude-plugin/plugin.json": '{"name":"x","hooks":"/etc/hooks.json"}', "commands/a.md": "A" },
    says: /the path "\/etc\/hooks\.json" leads out/,
  },
  "a name that is a path": {
    files: { ".claude-plugin/plugin.json": '{"name":"../x"}', "commands/a.md": "A" },
    says: /its name "\.\.\/x" may have letters/,
  },
  "a manifest that is no JSON": {
    files: { ".claude-plugin/plugin.json": "{", "commands/a.md": "A" },
    says: /plugin\.json is no JSON/,
  },
  "a link outside": {
    files: { "commands/a.md": "A" },
    prepare: (folder) => symlinkSync("/etc/passwd", join(folder, "commands/b.md")),
    says: /commands\/b\.md is a link to \/etc\/passwd, outside of the plugin/,
  },
  "a circular link": {
    files: { "commands/a.md": "A" },
    prepare: (folder) => symlinkSync("loop", join(folder, "loop")),
    says: /loop is a broken or circular link/,
  },
  "a link to a folder above": {
    files: { "commands/a.md": "A" },
    prepare: (folder) => symlinkSync(".", join(folder, "commands/up")),
    says: /commands\/up is a link to a folder/,
  },
  "a pipe": {
    files: { "commands/a.md": "A" },
    prepare: (folder) => execFileSync("mkfifo", [join(folder, "pipe")]),
    says: /pipe is neither a file nor a folder/,
  },
  "a giant file": {
    files: { "commands/a.md": "A" },
    prepare: (folder) => writeFileSync(join(folder, "giant.bin"), Buffer.alloc(40 << 20)),
    says: /giant\.bin has 41943040 bytes/,
  },
  "two plugins of one name": {
    files: {
      ".claude-plugin/marketplace.json":
        '{"plugins":[{"name":"x","source":"./a"},{"name":"x","source":"./b"}]}',
      "a/commands/a.md": "A",
    },
    says: /two plugins of the name "x"/,
  },
  "nothing to use": { files: { "README.md": "x" }, says: /has no commands, agents, skills/ },
}

for (const [name, { files, prepare, says }] of Object.entries(bad))
  test(`vitamin plugin add refuses ${name}`, async () => {
    await using tmp = await tmpdir()
    const folder = beside(tmp, "bad")
    mkdirSync(folder)
    writeFiles(folder, files)
    prepare?.(folder)
    const { code, err } = await vitamin(tmp, ["plugin", "add", "../bad", "--yes"])
    assert.equal(code, 2)
    assert.match(err, says)
    assert.equal(existsSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")), false)
  })

for (const [name, args, says] of [
  [
    "a path that leads out",
    ["--transform", "s,^commands,package/../..,", "-P"],
    /is not allowed in a plugin/,
  ],
  ["an absolute path", ["--transform", "s,^commands,/tmp/evil,", "-P"], /is not allowed in a plugin/],
  ["a link", ["--transform", "s,^,package/,", "link"], /is a link or a device/],
] as const)
  test(`vitamin plugin add refuses an archive with ${name}`, async () => {
    await using tmp = await tmpdir()
    const folder = beside(tmp, "bad")
    writeFiles(folder, { "commands/a.md": "A" })
    symlinkSync("/etc/passwd", join(folder, "link"))
    execFileSync("tar", ["czf", "../bad.tgz", ...args, "commands"], { cwd: folder })
    const { code, err } = await vitamin(tmp, ["plugin", "add", "../bad.tgz", "--yes"])
    assert.equal(code, 2)
    assert.match(err, says)
    assert.equal(existsSync("/tmp/evil"), false)
  })

for (const spec of ["npm:..", "npm:demo@..", "npm:--version", "npm:@../demo", "npm:file:../demo"])
  test(`vitamin plugin add refuses ${spec}, which is no name of a package`, async () => {
    await using tmp = await tmpdir()
    writeFiles(beside(tmp, "demo"), demo)
    const { code, err } = await vitamin(tmp, ["plugin", "add", spec, "--yes"])
    assert.deepEqual([code, /is no name of an npm package/.test(err)], [2, true], err)
  })

test("a command of the model installs no plugin, although the person allowed the command", async () => {
  await using tmp = await tmpdir({ git: true })
  writeFiles(beside(tmp, "demo"), demo)
  const line = `${process.execPath} ${command} plugin add ../demo --yes`
  await using llm = await fakeLlm([call("bash", { command: line }), text("Done.")])
  await vitamin(tmp, ["run", "--yes", "install it"], env(llm, "chat").variables)
  assert.match(JSON.stringify(llm.requests[1]!.messages), /cannot install plugins/)
  assert.equal(existsSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")), false)
})

test("a plugin of the same name from another place is refused, and a broken lock file is named", async () => {
  await using tmp = await tmpdir()
  for (const name of ["a", "b"]) writeFiles(beside(tmp, name), demo)
  assert.equal((await vitamin(tmp, ["plugin", "add", "../a", "--yes"])).code, 0)
  const other = await vitamin(tmp, ["plugin", "add", "../b", "--yes"])
  assert.equal(other.code, 2)
  assert.match(other.err, /There is a plugin "demo" of .*\/a already/)
  const broken = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json")
  writeFileSync(broken, "{")
  const listed = await vitamin(tmp, ["command", "list"])
  assert.deepEqual(
    [listed.code, /no plugin is used: .*plugins\.lock\.json cannot be read/.test(listed.err)],
    [0, true],
  )
})
