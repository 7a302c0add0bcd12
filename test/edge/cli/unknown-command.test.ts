// An unknown `/name` is refused on every surface, and never sent to a model.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { withSession } from "../acp/harness.ts"

const skill = "---\nname: greet\ndescription: Greets people.\n---\nGreet with the word Ahoy.\n"
const refusal =
  'There is no command "/gret". Did you mean "/greet"? Commands here: /greet. To send it as text, put a word before it.'

test("vitamin run refuses an unknown /name with exit code 2 and leaves no session; a path is a prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  await using llm = await fakeLlm([text("one"), text("two")])
  const { variables } = env(llm, "chat")
  const { code, out, err } = await vitamin(tmp, ["run", "/gret", "Ann"], variables)
  assert.deepEqual([code, out, err], [2, "", `vitamin: ${refusal}\n`])
  assert.equal((await vitamin(tmp, ["session", "list", "--format", "json"])).out, "[]")
  assert.equal((await vitamin(tmp, ["/usr/bin/ls", "fails"], variables)).code, 0)
  assert.equal((await vitamin(tmp, ["/greet", "Ann"], variables)).code, 0)
  assert.match(llm.requests[0]!.raw, /\/usr\/bin\/ls fails/)
  assert.match(llm.requests[1]!.raw, /Greet with the word Ahoy/)
})

test("HTTP answers an unknown /name with 400, also with Prefer: respond-async", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  await using llm = await fakeLlm([])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    fetch(url + path, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...more },
      body: JSON.stringify(body),
    })
  const { id } = (await (await post("/session", {})).json()) as { id: string }
  for (const prefer of ["return=representation", "respond-async"]) {
    const answer = await post(`/session/${id}/message`, { text: "/gret Ann" }, { prefer })
    const { error } = (await answer.json()) as { error: { name: string; message: string; data: object } }
    assert.deepEqual([answer.status, error.name, error.message], [400, "Session.UnknownCommand", refusal])
    assert.deepEqual(error.data, { name: "gret", near: "greet", known: ["greet"] })
  }
  assert.equal(llm.requests.length, 0)
})

test("ACP answers an unknown /name with -32602", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  await using llm = await fakeLlm([text("fine")])
  await using acp = await withSession(tmp, { llm })
  await assert.rejects(acp.prompt("/gret Ann"), { code: -32602, message: refusal })
  assert.equal((await acp.prompt("/usr/bin/ls fails")).stopReason, "end_turn")
  assert.equal(llm.requests.length, 1)
})

for (const prompt of ["/greet? Ann", "/foo.bar", "/123", "/gr\u200beet Ann", "/\u200bgreet Ann"])
  test(`vitamin run refuses ${JSON.stringify(prompt)}, which looks like a mistyped command`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(".vitamin/skills/greet/SKILL.md", skill)
    await using llm = await fakeLlm([])
    const { code, err } = await vitamin(tmp, ["run", prompt], env(llm, "chat").variables)
    assert.equal(code, 2, err)
    assert.match(err, /^vitamin: There is no command "\/.*Commands here: \/greet\./)
    assert.doesNotMatch(err, /\u200b/)
  })

for (const words of ["/etc/hosts is empty", "/etc", "/* a comment */", "/^a.b$/ fits", "/README.md", "//x"])
  test(`vitamin run sends ${JSON.stringify(words)} as text`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("fine")])
    const { code, err } = await vitamin(tmp, ["run", words], env(llm, "chat").variables)
    assert.equal(code, 0, err)
  })
