// `vitamin trust` in a terminal: it shows the diff of each file and asks about it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const question = /\[(?:q\]uit|n\]o): /

async function review(tmp: Tmp, answers: string[], args: string[] = []) {
  await using terminal = openTerminal(tmp, ["trust", ...args])
  for (const [i, answer] of answers.entries()) {
    await terminal.sees(question, i + 1)
    terminal.type(`${answer}\n`)
  }
  assert.equal(await terminal.exit, 0, terminal.shown())
  return terminal.shown()
}

const waiting = async (tmp: Tmp) =>
  JSON.parse((await vitamin(tmp, ["config", "show", "--format", "json"])).out).waiting

test("vitamin trust shows each file, and trusts those that the person accepts", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", '{ "mcpServers": {} }\n')
  tmp.write(".vitamin/agents/one.md", "---\n---\nhidden \u001b[2K\u202e\n")
  tmp.write(".vitamin/config.jsonc", '{ "model": "a/b" }\n')
  const shown = await review(tmp, ["y", "perhaps", "n", "yes"])
  assert.match(shown, /1 of 3: new \.mcp\.json\n@@ -1,0 \+1,1 @@\n\+\{ "mcpServers": \{\} \}/)
  assert.match(shown, /\+hidden \\u001b\[2K\\u202e/)
  assert.match(shown, /^Trusted: .*\n {2}new {6}\.mcp\.json .*\n {2}new {6}\.vitamin\/config\.jsonc /m)
  assert.match(shown, /not trusted {2}\.vitamin\/agents\/one\.md/)
  assert.deepEqual(await waiting(tmp), [".vitamin/agents/one.md (new)"])
})

test("vitamin trust shows the whole diff of a changed file, and names removed files", async () => {
  await using tmp = await tmpdir({ git: true })
  const lines = Array.from({ length: 400 }, (_, i) => `  // line ${i} ${"x".repeat(50)}\n`)
  tmp.write(".vitamin/config.jsonc", `{\n${lines.join("")}}\n`)
  tmp.write(".mcp.json", "{}\n")
  await vitamin(tmp, ["trust", "--yes"])
  const changed = lines.map((line) => line.replace("x", "y")).join("")
  tmp.write(".vitamin/config.jsonc", `{\n${changed}  "model": "a/last"\n}\n`)
  tmp.git("clean", "-qf", ".mcp.json")
  const shown = await review(tmp, ["n", "y"])
  assert.match(shown, /1 of 2: removed \.mcp\.json\nForget this file and its deny and ask rules\?/)
  assert.match(shown, /- {2}\/\/ line 399 xx/)
  assert.match(shown, /\+ {2}"model": "a\/last"\n/)
  assert.deepEqual(await waiting(tmp), [".mcp.json (removed)"])
  assert.doesNotMatch(await review(tmp, ["a"]), /not trusted/)
  assert.deepEqual(await waiting(tmp), [])
})

test("vitamin trust shows all that is left before it trusts it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", "{}\n")
  for (const name of ["one", "two"]) tmp.write(`.vitamin/agents/${name}.md`, `---\n---\nI am ${name}.\n`)
  const all = /I am one\..*I am two\.\nAccept these 3 files as they are shown\? \[y\]es, \[n\]o: /s
  const refused = await review(tmp, ["a", "a", "n"])
  assert.match(refused, all)
  assert.match(refused, /Nothing was trusted\./)
  assert.match(await review(tmp, ["a", "y"]), all)
  assert.deepEqual(await waiting(tmp), [])
})

test("vitamin trust trusts nothing if the person quits, and --yes asks nothing", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", "{}\n")
  assert.match(await review(tmp, ["q"]), /Nothing was trusted\./)
  assert.match((await vitamin(tmp, ["trust", "--list"])).out, /^No folder/)
  assert.match(await review(tmp, [], ["--yes"]), /Trusted: /)
})

test("vitamin trust --file covers a file that it does not find by itself", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("tools/own.sh", "echo\n")
  await vitamin(tmp, ["trust", "--yes", "--file", "tools/own.sh"])
  tmp.write("tools/own.sh", "echo evil\n")
  assert.deepEqual(await waiting(tmp), ["tools/own.sh (changed)"])
})
