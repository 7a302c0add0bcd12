// Calls of MCP clients pass the hooks and the guards, as those of the model do.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { hooksJson } from "../../engine/hook/harness.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { overStdio, textOf } from "./harness.ts"

function writeHooks(tmp: Tmp, commands: Parameters<typeof hooksJson>[0]): void {
  const file = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/hooks.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, hooksJson(commands))
}

test("hooks block a call of an MCP client, and add to its result", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, {
    PreToolUse: { matcher: "Write", command: "echo not for clients >&2; exit 2" },
    PostToolUse: { matcher: "Read", command: `printf '{"decision":"block","reason":"read it twice"}'` },
  })
  await using served = await overStdio(tmp, { args: ["--yes"] })
  const { client } = served
  const blocked = await client.callTool({ name: "write", arguments: { path: "a.txt", content: "x" } })
  assert.match(textOf(blocked), /was not run\. The hook .* blocks it: not for clients/)
  assert.ok(!existsSync(join(tmp.path, "a.txt")))
  const read = await client.callTool({ name: "read", arguments: { path: "README.md" } })
  assert.match(textOf(read), /read it twice/)
})

test("PermissionRequest refuses a call that the person of an MCP client approved", async () => {
  await using tmp = await tmpdir({ git: true })
  writeHooks(tmp, { PermissionRequest: "echo not even so >&2; exit 2" })
  const answer = () => ({ action: "accept" as const, content: { allow: true } })
  await using served = await overStdio(tmp, { answer })
  const args = { path: "a.txt", content: "x" }
  const refused = await served.client.callTool({ name: "write", arguments: args })
  assert.match(textOf(refused), /blocks it: not even so/)
  assert.ok(!existsSync(join(tmp.path, "a.txt")))
})

test("guards judge the calls of an MCP client, and know the earlier ones", async () => {
  await using tmp = await tmpdir({ git: true })
  const guards = {
    own: { block: "write:secret/**", because: "it is secret" },
    first: { block: "write:b.txt", until: "read.done:README.md", because: "read it first" },
  }
  await using served = await overStdio(tmp, {
    args: ["--yes"],
    env: { VITAMIN_CONFIG: JSON.stringify({ guards }) },
  })
  const write = async (path: string) =>
    textOf(await served.client.callTool({ name: "write", arguments: { path, content: "x" } }))
  assert.match(await write("secret/a.txt"), /it is secret/)
  assert.match(await write("b.txt"), /read it first/i)
  await served.client.callTool({ name: "read", arguments: { path: "README.md" } })
  await write("b.txt")
  assert.equal(readFileSync(join(tmp.path, "b.txt"), "utf8"), "x")
})
