// `vitamin run` and `vitamin tool search` with the 527 tools of three real MCP servers.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { mcpJson } from "../../ability/mcp/servers.ts"
import { usualTools } from "../../fixture/builtin-tools.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Request, text } from "../../fixture/fake-llm.ts"
import { domainNames } from "../../fixture/mcp/many-tools.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const script = fileURLToPath(new URL("../../fixture/mcp/many-server.ts", import.meta.url))
const builtin = new Set(usualTools)

/** Three servers whose manifests are stored, as after a first start. */
async function withMany(tmp: Tmp): Promise<{ log: () => string }> {
  const log = join(tmp.path, "..", "calls")
  const server = (domains: string[]) => ({ command: process.execPath, args: [script, domains.join(), log] })
  const servers = {
    office: server(domainNames.slice(0, 6)),
    town: server(domainNames.slice(6, 12)),
    land: server(domainNames.slice(12)),
  }
  tmp.write(".mcp.json", mcpJson(servers))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const tested = await vitamin(tmp, ["mcp", "test"])
  assert.equal(tested.code, 0, tested.out + tested.err)
  assert.match(tested.out, /155 tools.*186 tools.*186 tools/s)
  return { log: () => (existsSync(log) ? readFileSync(log, "utf8") : "") }
}

const namesOf = ({ tools }: Request) => tools.map(({ name }) => name)
const namesBeyond = (request: Request) => namesOf(request).filter((name) => !builtin.has(name))

/** Tokens of the definitions beyond the built-in tools. */
function tokensBeyond({ body }: Request): number {
  const tools = body.tools as { function: { name: string } }[]
  const beyond = tools.filter(({ function: { name } }) => !builtin.has(name))
  return beyond.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
}

test("with 527 tools, requests stay small, the right tool is called, and a session keeps its list of tools", async () => {
  await using tmp = await tmpdir({ git: true })
  const { log } = await withMany(tmp)
  await using llm = await fakeLlm([
    call("office_create_refund", { title: "Ada, order 12" }),
    call("tool_search", { query: "list the flights of the airport", limit: 2 }),
    call("land_list_flights", { page: 1 }),
    text("Done."),
    text("Still here."),
  ])
  const { variables } = env(llm, "chat")
  const first = await vitamin(
    tmp,
    [
      "run",
      "--allow",
      "mcp.call:office/*",
      "--allow",
      "mcp.call:land/*",
      "Create a refund for Ada's order 12",
    ],
    variables,
  )
  assert.equal(first.code, 0, first.err)
  assert.equal(log(), '["create_refund",{"title":"Ada, order 12"}]\n["list_flights",{"page":1}]\n')
  const again = await vitamin(tmp, ["run", "--continue", "Create a refund for Ada's order 12"], variables)
  assert.equal(again.code, 0, again.err)
  const { requests } = llm
  assert.ok(tokensBeyond(requests[0]!) <= 3_000, String(tokensBeyond(requests[0]!)))
  assert.ok(!namesOf(requests[0]!).includes("land_list_flights"))
  assert.ok(namesOf(requests[2]!).includes("land_list_flights"), namesBeyond(requests[2]!).join())
  for (const [i, request] of requests.entries()) {
    assert.ok(tokensBeyond(request) <= 6_000)
    assert.ok(request.tools.length <= 128)
    const before = JSON.stringify(requests[i - 1]?.body.tools ?? []).slice(0, -1)
    assert.ok(JSON.stringify(request.body.tools).startsWith(before), `the tools of request ${i + 1}`)
  }
  assert.deepEqual(requests[4]!.body.tools, requests[3]!.body.tools, "after a restart")
})

test("permission for a tool that was found by tool_search is asked under its real name, and a rule for that name denies it", async () => {
  await using tmp = await tmpdir({ git: true })
  const { log } = await withMany(tmp)
  const through = (name: string, args: object) => call("tool_search", { call: name, arguments: args })
  const search = (query: string) => call("tool_search", { query, limit: 20 })
  await using llm = await fakeLlm([
    search("create something new"),
    search("list everything"),
    search("remove it for good"),
    call("tool_search", { query: "show one patient of the clinic", limit: 1 }),
    through("town_get_patient", { id: "p7" }),
    text("Shown."),
    through("town_get_patient", { id: "p8" }),
    text("No."),
    through("town_get_patient", { id: "p9" }),
    text("No."),
  ])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", "Which invoices are open?"], { env: variables })
  await terminal.sees(/say why not\): /, 1)
  assert.match(
    terminal.shown(),
    /town_get_patient needs your permission:\n {2}mcp\.call {2}town\/get_patient\n/,
  )
  assert.match(terminal.shown(), /"id": "p7"/)
  assert.equal(log(), "")
  terminal.type("o\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.equal(log(), '["get_patient",{"id":"p7"}]\n')
  const full = llm.requests[4]!
  assert.ok(tokensBeyond(full) > 5_500 && tokensBeyond(full) <= 6_000, String(tokensBeyond(full)))
  assert.match(full.messages.at(-1)!.results[0]!.text, /^town_get_patient: Show .*\n {2}parameters: /)
  assert.ok(!namesOf(llm.requests[5]!).includes("town_get_patient"), "there is no room for it")
  const nobody = await vitamin(tmp, ["run", "Which invoices are open?"], variables)
  assert.equal(nobody.code, 3, nobody.err)
  assert.match(nobody.err, /--allow "mcp\.call:town\/get_patient" or --yes would allow it/)
  const deny = ["--yes", "--deny", "mcp.call:town/get_patient"]
  const denied = await vitamin(tmp, ["run", ...deny, "Which invoices are open?"], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.match(
    JSON.stringify(llm.requests.at(-1)!.body),
    /mcp\.call of .{0,4}town\/get_patient.{0,4} is denied by the rule/,
  )
  assert.equal(log(), '["get_patient",{"id":"p7"}]\n')
})

test("vitamin tool search shows the best tools of all servers, with scores and why", async () => {
  await using tmp = await tmpdir({ git: true })
  await withMany(tmp)
  const { out, err } = await vitamin(tmp, ["tool", "search", "create a refund", "--limit", "3"])
  const lines = out.split("\n")
  assert.equal(lines.length, 6, err)
  assert.match(out, /^office_create_refund +office +Create a new refund in the billing system/m)
  assert.match(lines[1]!, /^ {4}\d+\.\d{3} {2}words #\d+ \(\d+\.\d\d\) {2}meaning (#\d+ \(-?\d\.\d\d\)|-)$/)
  const json = await vitamin(tmp, ["tool", "search", "create a refund", "--limit", "3", "--format", "json"])
  const matches = JSON.parse(json.out)
  assert.equal(matches.length, 3)
  assert.deepEqual(Object.keys(matches[0]).slice(0, 3), ["tool", "serverId", "score"])
  assert.equal((await vitamin(tmp, ["tool", "search", "refund", "--limit", "0"])).code, 2)
})
