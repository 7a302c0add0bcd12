// Trusted code of a project that never finishes: commands report it, continue without it, and end.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const staysOpen = `import { createServer } from "node:http"
createServer().listen(0, "127.0.0.1")
setInterval(() => {}, 1_000)
`

test("a command ends even if a trusted configuration left a server and a timer running", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.ts", `${staysOpen}export default { model: "local/rules" }\n`)
  const { code, out } = await vitamin(tmp, ["config", "show", "--trust"])
  assert.equal(code, 0)
  assert.match(out, /local\/rules/)
})

test("agent files whose import never settles are named after one time limit for all of them", async () => {
  await using tmp = await tmpdir({ git: true })
  const names = Array.from({ length: 7 }, (_, i) => `a${i}.ts`)
  for (const name of names) tmp.write(`.vitamin/agents/${name}`, `${staysOpen}await new Promise(() => {})\n`)
  tmp.write(".vitamin/agents/z.ts", 'export default { id: "z", systemPrompt: "Say z." }\n')
  const { code, out, err } = await vitamin(tmp, ["agent", "list", "--trust"])
  assert.equal(code, 0)
  for (const name of names) assert.match(err, new RegExp(`${name}: the import took longer than 10 s`))
  assert.match(out, /^z\b/m)
})

test("a configuration whose import never settles fails the command and is named", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.ts", `${staysOpen}await new Promise(() => {})\nexport default {}\n`)
  const { code, err } = await vitamin(tmp, ["config", "show", "--trust"])
  assert.equal(code, 1)
  assert.match(err, /config\.ts: the import took longer than 10 s/)
})
