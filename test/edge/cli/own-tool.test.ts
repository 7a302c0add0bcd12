// The example tool of docs/tools.md, in a trusted folder without node_modules.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function layExample(tmp: Tmp): void {
  const docs = readFileSync(new URL("../../../docs/tools.md", import.meta.url), "utf8")
  const [, example] = /```ts\n(\/\/ \.vitamin\/config\.ts\n.+?)```/s.exec(docs)!
  tmp.write(".vitamin/config.ts", example!)
  tmp.write("CHANGELOG.md", "# Changelog\n\n## 1.1.0\n- Faster.\n\n## 1.0.0\n- First.\n")
}

test("the tool of docs/tools.md is offered to the model and runs", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    call("changelog", { version: "1.1.0" }),
    call("changelog", { version: "9" }),
    text("Faster."),
  ])
  layExample(tmp)
  const args = ["run", "--trust", "what is new in 1.1.0? use the changelog"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "Faster.")
  const [first, second, third] = llm.requests.map(({ body }) => JSON.stringify(body))
  assert.match(first!, /"description":"such as 1\.2\.0"/)
  assert.match(second!, /1\.1\.0\\n- Faster\./)
  assert.match(third!, /CHANGELOG\.md has no release 9/)
})

test("each folder that a server serves has the tools of its own configuration", async () => {
  await using tmp = await tmpdir({ git: true })
  layExample(tmp)
  tmp.write("packages/a/index.js", "")
  const { child, url, tokenFile } = await serving(tmp, ["--trust"])
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  for (const folder of [tmp.path, `${tmp.path}/packages/a`]) {
    const headers = { authorization: `Bearer ${token}`, "x-vitamin-directory": folder }
    const tools = (await (await fetch(`${url}/tool`, { headers })).json()) as { id: string }[]
    assert.ok(
      tools.some(({ id }) => id === "changelog"),
      folder,
    )
  }
})
