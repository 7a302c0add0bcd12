// Where plugins come from: packages of npm, a marketplace in a git repository, and `vitamin plugin new`.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { command, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { folderRegistry } from "../../../fixture/folder-registry.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { beside, demo, lockOf, writeFiles } from "./harness.ts"

test("a plugin packed by npm is installed from a registry with its integrity, updated and removed", async () => {
  await using tmp = await tmpdir({ git: true })
  const source = beside(tmp, "source")
  const packages = beside(tmp, "packages")
  mkdirSync(packages)
  const pack = (version: string, data: string) => {
    const scripts = { prepare: "touch ../PREPARED", prepack: "touch ../PREPACKED" }
    const manifest = { name: "@team/demo", version, scripts: version === "1.0.0" ? {} : scripts }
    writeFiles(source, {
      ...demo,
      ".claude-plugin/plugin.json": '{"name":"demo"}',
      "data.txt": data,
      "package.json": JSON.stringify(manifest),
    })
    execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", packages], {
      cwd: source,
      stdio: "pipe",
    })
  }
  pack("1.0.0", "PACKED-1\n")
  await using registry = await folderRegistry(packages)
  const npm = { npm_config_registry: registry.url, npm_config_cache: beside(tmp, "npm-cache") }
  const added = await vitamin(tmp, ["plugin", "add", "npm:@team/demo", "--yes"], npm)
  assert.equal(added.code, 0, added.err)
  const [entry] = lockOf(tmp).plugins
  assert.deepEqual([entry!.name, entry!.version], ["demo", "1.0.0"])
  assert.match(JSON.stringify(entry!.source), /"address":"@team\/demo","integrity":"sha512-/)
  await using llm = await fakeLlm(() => text("ok"))
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "/demo:hello Ann"], variables)
  assert.match(llm.requests.at(-1)!.raw, /Hello Ann from PACKED-1/)
  pack("1.1.0", "PACKED-2\n")
  const fresh = { ...npm, npm_config_prefer_online: "true" }
  const updated = await vitamin(tmp, ["plugin", "update", "demo", "--yes"], fresh)
  assert.equal(updated.code, 0, updated.err)
  assert.equal(lockOf(tmp).plugins[0]!.version, "1.1.0")
  await vitamin(tmp, ["run", "/demo:hello Ann"], variables)
  assert.match(llm.requests.at(-1)!.raw, /Hello Ann from PACKED-2/)
  assert.equal((await vitamin(tmp, ["plugin", "remove", "demo"])).code, 0)
  assert.deepEqual(lockOf(tmp).plugins, [])
  const missing = await vitamin(tmp, ["plugin", "add", "npm:@team/none", "--yes"], npm)
  assert.equal(missing.code, 2)
  assert.match(missing.err, /npm cannot fetch @team\/none/)
  assert.deepEqual(
    readdirSync(join(tmp.path, "..")).filter((name) => name.startsWith("PRE")),
    [],
  )
})

test("a plugin of a marketplace in a git repository is installed without hooks and filters of the repository", async () => {
  await using tmp = await tmpdir({ git: true })
  const repository = beside(tmp, "market")
  mkdirSync(repository)
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], {
      cwd: repository,
      stdio: "pipe",
    })
  git("init", "-q")
  writeFiles(repository, {
    ".claude-plugin/marketplace.json": JSON.stringify({
      name: "market",
      owner: { name: "Team" },
      plugins: [
        { name: "one", source: "./plugins/one", description: "One", version: "3.1.0" },
        { name: "far", source: { source: "github", repo: "a/b" } },
      ],
    }),
    "plugins/one/commands/go.md": "GO-1",
    ".gitattributes": "*.md filter=evil\n",
  })
  git("add", "-A")
  git("commit", "-qm", "first")
  git("config", "filter.evil.smudge", "touch ../SMUDGED")
  git("config", "core.hooksPath", join(repository, "hooks"))
  const choose = await vitamin(tmp, ["plugin", "add", `file://${repository}`, "--yes"])
  assert.match(choose.err, /name one of its plugins, as ADDRESS#NAME: one, far/)
  const far = await vitamin(tmp, ["plugin", "add", `file://${repository}#far`, "--yes"])
  assert.match(far.err, /"far" is in another place: \{"source":"github","repo":"a\/b"\}/)
  const added = await vitamin(tmp, ["plugin", "add", `file://${repository}#one`, "--yes"])
  assert.equal(added.code, 0, added.err)
  const [entry] = lockOf(tmp).plugins
  assert.deepEqual([entry!.name, entry!.version], ["one", "3.1.0"])
  assert.match(JSON.stringify(entry!.source), /"plugin":"one","commit":"[0-9a-f]{40}"/)
  await using llm = await fakeLlm(() => text("ok"))
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "/one:go"], variables)
  assert.match(llm.requests.at(-1)!.raw, /GO-1/)
  writeFiles(repository, { "plugins/one/commands/go.md": "GO-2" })
  git("commit", "-qam", "second")
  const updated = await vitamin(tmp, ["plugin", "update", "--yes"])
  assert.match(updated.out, /changed +commands\/go\.md[\s\S]*Installed: one 3\.1\.0/)
  await vitamin(tmp, ["run", "/one:go"], variables)
  assert.match(llm.requests.at(-1)!.raw, /GO-2/)
  assert.equal(existsSync(beside(tmp, "SMUDGED")), false)
})

test("vitamin plugin new creates a plugin whose test runs, and which can be installed", async () => {
  await using tmp = await tmpdir()
  const made = await vitamin(tmp, ["plugin", "new", "team-tools"])
  assert.equal(made.code, 0, made.err)
  const bin = beside(tmp, "bin")
  mkdirSync(bin)
  writeFileSync(join(bin, "vitamin"), `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`, {
    mode: 0o755,
  })
  const { NODE_TEST_CONTEXT: _, ...plain } = tmp.env
  const tested = execFileSync(process.execPath, ["--test"], {
    cwd: join(tmp.path, "team-tools"),
    env: { ...plain, PATH: `${bin}:${process.env.PATH}` },
    encoding: "utf8",
  })
  assert.match(tested, /pass 1/)
  assert.equal((await vitamin(tmp, ["plugin", "add", "./team-tools", "--yes"])).code, 0)
  assert.match((await vitamin(tmp, ["command", "list"])).out, /^\/team-tools:hello <name> +own/m)
  assert.equal((await vitamin(tmp, ["plugin", "new", "team-tools"])).code, 2)
  assert.equal((await vitamin(tmp, ["plugin", "new", "../x"])).code, 2)
})
