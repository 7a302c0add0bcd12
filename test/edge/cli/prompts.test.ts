// `vitamin run --prompt server/name key=value`: what a server offers to say, as the person's prompt.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("--prompt gets the prompt of a server with its arguments, and says what else the person said", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm([text("Sunny."), text("Simple.")])
  const { variables } = env(llm, "chat")
  const city = ["everything/args-prompt", "city=New York", "state=NY", "in", "one", "word"]
  const { code, out, err } = await vitamin(tmp, ["run", "--prompt", ...city], variables)
  assert.deepEqual([code, out], [0, "Sunny."], err)
  const sent = (at: number) => JSON.stringify(llm.requests[at]!.body)
  assert.match(sent(0), /What's weather in New York, NY\?.*in one word/)
  assert.doesNotMatch(sent(0), /city=/)
  const simple = await vitamin(tmp, ["run", "--prompt", "everything/simple-prompt"], variables)
  assert.equal(simple.code, 0, simple.err)
  assert.match(sent(1), /This is a simple prompt without arguments/)
})

test("--prompt with a wrong name or wrong arguments is a mistake that is explained, and asks no model", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm([])
  const wrong: [string[], RegExp][] = [
    [["everything/arg-prompt"], /has no prompt "arg-prompt"\. It has: .*Did you mean "args-prompt"\?/],
    [["everythin/args-prompt"], /"everythin" does not exist.*Did you mean "everything"\?/],
    [
      ["everything/args-prompt"],
      /needs "city" \(Name of the city\)\. Use it as: --prompt everything\/args-prompt city=… \[state=…\]/,
    ],
    [["everything/args-prompt", "city=x", "stat=y"], /no argument "stat" \(did you mean "state"\?\)/],
    [["everything"], /--prompt needs SERVER\/NAME/],
  ]
  for (const [args, said] of wrong) {
    const { code, err } = await vitamin(tmp, ["run", "--prompt", ...args], env(llm, "chat").variables)
    assert.equal(code, 2, err)
    assert.match(err, said)
  }
  assert.equal(llm.requests.length, 0)
  assert.match((await vitamin(tmp, ["session", "list", "--format", "json"])).out, /^\[\s*\]$/)
})

test("--prompt starts nothing in a folder that is not trusted", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  const { code, err } = await vitamin(tmp, ["run", "--prompt", "everything/simple-prompt"])
  assert.equal(code, 1, err)
  assert.match(err, /not trusted/)
})
