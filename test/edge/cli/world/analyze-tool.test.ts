// The tool `world_analyze` in a session: a scripted model, real files, and rules about what may be read.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("an agent that names world_analyze gets the findings, but none of files that it may not read", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/agents/interface.md",
    "---\ndescription: Builds pages\ntools: [read, world_analyze]\n---\nYou build pages.\n",
  )
  tmp.write("src/page.html", "<main>\n<button>Add</button></main>")
  tmp.write("src/private/page.html", "<img src=private.png>")
  tmp.write("../outside.html", "<img src=outside.png>")
  await using llm = await fakeLlm([
    call("world_analyze", { path: "src" }),
    call("world_analyze", { path: "src/private/page.html" }),
    call("world_analyze", { path: "../outside.html" }),
    text("One button does nothing."),
  ])
  const args = [
    "--trust",
    "run",
    "--agent",
    "interface",
    "--deny",
    "file.read:src/private/**",
    "check the pages",
  ]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(out, /One button does nothing/)
  const [, first, second, third] = llm.requests.map(({ raw }) => raw)
  assert.match(first!, /src\/page\.html:2:1: error loop\/no-handler: Nothing happens when a person uses Add/)
  assert.match(first!, /1 file \(0 objects, 0 channels, 1 lever, 1 loop, 1 block\): 1 error, 0 warnings\./)
  assert.match(second!, /No template .* is at src\/private\/page\.html/)
  assert.match(third!, /No template .* is at \.\.\/outside\.html/)
  for (const raw of [first, second, third]) assert.doesNotMatch(raw!, /image-alt/)
})
