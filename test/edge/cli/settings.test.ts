// `-C key=value`: settings of one run, through the built command.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function shown(tmp: Tmp, ...args: string[]) {
  const { code, out, err } = await vitamin(tmp, ["config", "show", "--format", "json", ...args])
  assert.equal(code, 0, err)
  return JSON.parse(out) as { config: Record<string, unknown>; origins: Record<string, string> }
}

test("-C sets nested keys, JSON values and text, wins over every file, and the later one wins", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/config.jsonc", '{ "model": "openai/from-file", "snapshot": true }')
  const { config, origins } = await shown(
    tmp,
    ...["-C", "model=openai/first", "-C", "model=openai/second", "-C", "snapshot=false"],
    ...[
      "-C",
      'environment={"pass":["GH_TOKEN"]}',
      "--set",
      'provider["my.id"].baseURL=http://localhost:1/v1',
    ],
    ...["-C", "agent.name=12"],
  )
  assert.equal(config.model, "openai/second")
  assert.equal(config.snapshot, false)
  assert.deepEqual(config.environment, { pass: ["GH_TOKEN"] })
  assert.deepEqual(config.provider, { "my.id": { baseURL: "http://localhost:1/v1" } })
  assert.deepEqual(config.agent, { name: "12" })
  assert.equal(origins.model, "inline")
})

test("-C before the command, or before a prompt, sets the model", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one"), text("two")])
  const base = new URL(env(llm, "chat").variables.OPENAI_BASE_URL!).href
  const settings = ["-C", "model=openai/fake-model", "-C", `provider.openai.baseURL=${base}`]
  for (const [args, answer] of [
    [[...settings, "run", "hello"], "one"],
    [[...settings, "say hello"], "two"],
  ] as const) {
    const { code, out, err } = await vitamin(tmp, [...args], { OPENAI_API_KEY: "k" })
    assert.equal(code, 0, err)
    assert.equal(out, answer)
  }
})

test("-C permission=… adds rules after those of the files and of earlier -C options", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("no")])
  const rule = (pattern: string) =>
    `permission=${JSON.stringify([{ permission: "file.read", pattern, action: "deny" }])}`
  const args = ["run", "-C", rule("README.md"), "-C", rule("other"), "look"]
  const { code, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 3, err)
  assert.doesNotMatch(llm.requests[1]!.raw, /# fixture/)
})

for (const [setting, reason] of [
  ["modle=a/b", /-C modle: the key is unknown; did you mean "model"\?/],
  ["provider.openai.baseUrl=http://x", /-C provider\.openai\.baseUrl: .*did you mean "baseURL"\?/],
  ["model=none", /-C model: expected "provider\/model"/],
  ["snapshot=perhaps", /-C snapshot: expected boolean, received string/],
  ["permission[0]=x", /-C permission\[0\]: an item of a list cannot be set; .*permission=\[…\]/],
  ["remote.url=https://x.example", /-C remote: a remote configuration is named in the global file/],
  ["model", /-C "model" is not of the form key=value/],
  ["=x", /is not of the form key=value/],
] as const)
  test(`-C ${setting} is refused with exit code 2, and nothing starts`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([])
    const { code, err } = await vitamin(tmp, ["run", "-C", setting, "hello"], env(llm, "chat").variables)
    assert.equal(code, 2, err)
    assert.match(err, reason)
    assert.equal(llm.requests.length, 0)
  })

test("-C does not widen what an untrusted folder may set", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/config.jsonc",
    '{ "permission": [{ "permission": "bash.execute", "pattern": "*", "action": "allow" }] }',
  )
  const { config } = await shown(tmp, "-C", "model=openai/x")
  assert.deepEqual(config.permission, [])
})

test("agent.model takes a model without its provider; for FunctionGemma the error says that it was not added", async () => {
  await using tmp = await tmpdir()
  const missing = await vitamin(tmp, ["run", "-C", "agent.model=functiongemma", "hello"])
  assert.equal(missing.code, 1)
  assert.match(missing.err, /local\/functiongemma needs its GGUF file/)
  const unknown = await vitamin(tmp, ["run", "-C", "agent.model=nonsense-9", "hello"])
  assert.equal(unknown.code, 1)
  assert.match(unknown.err, /Model "nonsense-9" is not of the form provider\/model/)
})
