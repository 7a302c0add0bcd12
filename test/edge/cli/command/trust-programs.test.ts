// Trust by content for the programs of MCP servers: each entry of a reviewed .mcp.json names its program in another
// way, and a command changes that program, or a file that it loads. The server does not start before the change is
// reviewed.
import assert from "node:assert/strict"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { mcpJson } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const server = fileURLToPath(new URL("../../../ability/mcp/tiny-server.ts", import.meta.url))
const node = process.execPath
const start = `import(${JSON.stringify(server)})\n`

/** `changes` is the file that is changed, `files` are the others. */
const ways: Record<string, { entry: object; changes: string; files?: Record<string, string> }> = {
  "a-folder-in-a-shell-line": {
    entry: { command: "bash", args: ["-c", `cd tools && exec '${node}' server.mjs '{}'`] },
    changes: "tools/server.mjs",
  },
  "a-folder-in-an-option": {
    entry: { command: "bash", args: ["in.sh", "--directory", "lib", "run", "server.cjs"] },
    changes: "lib/server.cjs",
    files: { "in.sh": `cd "$2" && exec '${node}' "$4" '{}'\n` },
  },
  "a-name-without-ending": { entry: { command: node, args: ["./program", "{}"] }, changes: "program.js" },
  "a-required-file-without-ending": {
    entry: { command: node, args: ["main.cjs", "{}"] },
    changes: "helper.js",
    files: { "main.cjs": `require("./helper")\n${start}` },
  },
  "a-required-folder": {
    entry: { command: node, args: ["other.cjs", "{}"] },
    changes: "parts/index.js",
    files: { "other.cjs": `require("./parts")\n${start}` },
  },
  "a-variable": {
    entry: { command: node, args: [server, "{}"], env: { NODE_OPTIONS: "--require ./preload.cjs" } },
    changes: "preload.cjs",
  },
  "a-url": {
    entry: { command: node, args: ["--import", "file://ROOT/hook.js", server, "{}"] },
    changes: "hook.js",
  },
}

test("an MCP server does not start after its program changed, however the entry names it", async () => {
  await using tmp = await tmpdir({ git: true })
  const marks = join(tmp.path, "../marks")
  mkdirSync(marks)
  const names = Object.keys(ways).sort()
  const entries = Object.fromEntries(names.map((name) => [name, ways[name]!.entry]))
  tmp.write(".mcp.json", mcpJson(entries).replaceAll("ROOT", tmp.path))
  const isProgram = (path: string) => /server|program/.test(path)
  for (const { changes, files = {} } of Object.values(ways)) {
    tmp.write(changes, isProgram(changes) ? start : "")
    for (const [path, content] of Object.entries(files)) tmp.write(path, content)
  }
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const before = await vitamin(tmp, ["mcp", "test"])
  for (const name of names) assert.match(before.out, new RegExp(`^${name} +connected`, "m"))

  for (const [name, { changes }] of Object.entries(ways)) {
    const mark = `process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(join(marks, name))}, "")\n`
    tmp.write(changes, mark + (isProgram(changes) ? start : ""))
  }
  const after = await vitamin(tmp, ["mcp", "test"])
  assert.deepEqual(readdirSync(marks), [])
  for (const name of names) {
    const reason = `it runs ${ways[name]!.changes}: it changed since it was reviewed`
    assert.match(after.out, new RegExp(`^${name} +unusable[^]*?${reason.replaceAll(".", "\\.")}`, "m"))
  }
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  await vitamin(tmp, ["mcp", "test"])
  assert.deepEqual(readdirSync(marks).sort(), names)
})
