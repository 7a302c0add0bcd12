// Resources and prompts of a real MCP server: shown and searched by people, found and read by the model.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, officialServer, tinyServer } from "../../ability/mcp/servers.ts"
import { apiOf } from "../../fixture/api-of.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function setUp(servers: Record<string, object>): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson(servers))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  return tmp
}

const everything = () => ({ everything: officialServer("everything") })
const results = (llm: FakeLlm) => llm.requests.at(-1)!.messages.flatMap((message) => message.results)
const toolNames = ({ body }: FakeLlm["requests"][number]) =>
  (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

test("vitamin mcp show lists tools, resources and prompts of a server, and searches them", async () => {
  await using tmp = await setUp(everything())
  const all = await vitamin(tmp, ["mcp", "show", "everything"])
  assert.equal(all.code, 0, all.err)
  assert.match(all.out, /^tools \(\d+\)\n {2}echo +\S/m)
  // Servers are not offered a model: sampling is deprecated, and nobody here answers it.
  assert.doesNotMatch(all.out, /sampling/)
  assert.match(all.out, /^resources \(7\)\n {2}demo:\/\/resource\/static\/document\/\S+/m)
  assert.match(all.out, /^resource templates \(\d\)\n {2}demo:\/\/\S+\{resourceId\}/m)
  assert.match(all.out, /^ {2}args-prompt city=… \[state=…\] +\S/m)
  assert.match(all.out, /@everything:URI attaches a resource and \/everything:NAME/)
  const args = ["mcp", "show", "--search", "architecture document", "--format", "json"]
  const found = JSON.parse((await vitamin(tmp, args)).out)
  assert.match(found.resources[0].uri, /architecture\.md$/)
  assert.ok(found.resources[0].score > 0)
  const promote = ["mcp", "show", "everything", "--search", "team management department", "--format", "json"]
  assert.equal(JSON.parse((await vitamin(tmp, promote)).out).prompts[0].name, "completable-prompt")
  const unknown = await vitamin(tmp, ["mcp", "show", "everythin"])
  assert.notEqual(unknown.code, 0)
  assert.match(unknown.err, /everythin.*everything/)
})

test("vitamin mcp show says why a server does not start, and fails", async () => {
  await using tmp = await setUp({
    bad: tinyServer({ mode: "crash" }),
    good: tinyServer({ tools: [{ name: "one", description: "The first" }] }),
  })
  const named = await vitamin(tmp, ["mcp", "show", "bad"])
  assert.deepEqual([named.code, named.out], [1, ""], named.err)
  assert.match(named.err, /no database/)
  const all = await vitamin(tmp, ["mcp", "show", "--search", "first"])
  assert.equal(all.code, 0, all.err)
  assert.match(all.out, /^ {2}good one/m)
  assert.match(all.err, /bad.*no database/)
})

test("GET /mcp/offer lists and searches what servers offer, and POST /mcp/:id/complete completes", async () => {
  await using tmp = await setUp(everything())
  const served = await serving(tmp)
  await using _ = served.child
  const api = apiOf(served)
  assert.deepEqual((await api("GET", "/mcp/offer")).body.resources, [])
  await api("POST", "/mcp/everything/connect")
  const { body } = await api("GET", "/mcp/offer?server=everything")
  assert.deepEqual([body.resources.length, body.prompts.length], [7, 4])
  assert.ok(body.templates.length && body.tools.length)
  const found = (await api("GET", "/mcp/offer?search=how+the+server+starts+up")).body
  assert.match(found.resources[0].uri, /startup\.md$/)
  assert.equal((await api("GET", "/mcp/offer?server=nothing")).status, 404)

  const complete = (body: object) => api("POST", "/mcp/everything/complete", body)
  const prompt = "completable-prompt"
  assert.deepEqual((await complete({ prompt, argument: "department", value: "S" })).body, {
    values: ["Sales", "Support"],
  })
  const given = { department: "Sales" }
  assert.deepEqual((await complete({ prompt, argument: "name", given })).body.values, [
    "David",
    "Eve",
    "Frank",
  ])
  assert.equal((await complete({ argument: "name" })).status, 400)
})

test("a prompt whose argument is missing says what the server suggests for it", async () => {
  await using tmp = await setUp(everything())
  const args = ["run", "--prompt", "everything/completable-prompt", "name=Eve"]
  const { code, err } = await vitamin(tmp, args)
  assert.notEqual(code, 0)
  assert.match(
    err,
    /needs "department" \(Choose the department\.; such as Engineering, Sales, Marketing, Support\)/,
  )
})

test("the model finds resources and prompts of a server, and reads them when that is allowed", async () => {
  await using tmp = await setUp(everything())
  await vitamin(tmp, ["mcp", "test", "everything"])
  const uri = "demo://resource/static/document/architecture.md"
  await using llm = await fakeLlm([
    call("everything_resources", { query: "architecture" }),
    call("everything_resources", { uri }),
    call("everything_resources", { prompt: "args-prompt", arguments: { city: "Rome" } }),
    call("everything_resources", { prompt: "nope" }),
    text("Done."),
  ])
  const allow = ["--allow", "mcp.call:everything/resource:*", "--allow", "mcp.call:everything/prompt:*"]
  const ran = await vitamin(tmp, ["run", ...allow, "go"], env(llm, "chat").variables)
  assert.equal(ran.code, 0, ran.err)
  const [found, read, prompt, wrong] = results(llm).map((result) => result.text)
  assert.match(found!, new RegExp(`uri: ${uri.replaceAll("/", "\\/")} \\(`))
  assert.match(read!, new RegExp(`^<resource server="everything" uri="${uri}">\\n`))
  assert.match(read!, /Architecture/)
  assert.match(prompt!, /<prompt server="everything" name="args-prompt">\n.*Rome/)
  assert.match(wrong!, /has no prompt "nope"/)
})

test("a search shows matching templates, at most as many as of the other kinds", async () => {
  const templates = [
    { uriTemplate: "user://{id}", name: "profile of a user" },
    ...Array.from({ length: 30 }, (_, i) => ({ uriTemplate: `log://${i}/{day}`, name: `journal ${i}` })),
  ]
  await using tmp = await setUp({ tiny: tinyServer({ templates }) })
  await vitamin(tmp, ["mcp", "test", "tiny"])
  const search = (query: string) => call("tiny_resources", { query })
  await using llm = await fakeLlm([
    search("user profiles"),
    search("journal"),
    search("zebra"),
    text("Done."),
  ])
  const ran = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(ran.code, 0, ran.err)
  const [one, many, none] = results(llm).map((result) => result.text)
  assert.equal(one, "uri template: user://{id} (profile of a user)")
  assert.equal(many!.match(/uri template: log:/g)!.length, 10)
  assert.match(none!, /Nothing fits/)
})

test("a resource that no rule allows is not read if nobody can be asked", async () => {
  await using tmp = await setUp(everything())
  await vitamin(tmp, ["mcp", "test", "everything"])
  const uri = "demo://resource/static/document/architecture.md"
  await using llm = await fakeLlm([call("everything_resources", { uri }), text("Denied.")])
  const { code } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(code, 3)
  assert.match(results(llm)[0]!.text, /mcp\.call:everything\/resource:demo:/)
})

test("servers without resources and prompts do not make requests larger", async () => {
  const tools = [{ name: "one" }]
  const resources = [{ uri: "db://table", name: "The table of users", text: "ann, bob" }]
  await using tmp = await setUp({ plain: tinyServer({ tools }), rich: tinyServer({ tools, resources }) })
  await vitamin(tmp, ["mcp", "test"])
  await using llm = await fakeLlm([text("Done.")])
  await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  const names = toolNames(llm.requests[0]!).filter((name) => /^(plain|rich)_/.test(name))
  assert.deepEqual(names, ["plain_one", "rich_one", "rich_resources"])
})
