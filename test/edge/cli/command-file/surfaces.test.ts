// Command files in the terminal, over HTTP and in an editor (ACP).
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { openXterm } from "../../../fixture/xterm.ts"
import { choose, withSession } from "../../acp/harness.ts"

const body =
  "---\ndescription: Greets somebody\nargument-hint: <who>\n---\nGreet $1. !`touch ran.txt; echo TOUCHED`"

async function prepare(tmp: Tmp): Promise<void> {
  tmp.write(".vitamin/commands/team/greet.md", body)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
}

test("the terminal completes a command with its hint, /help lists it, and its short name runs it", async () => {
  await using tmp = await tmpdir({ git: true })
  await prepare(tmp)
  await using llm = await fakeLlm([text("Hello Ann.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables, rows: 60 })
  await terminal.sees(/^ask · /m)
  terminal.type("/team")
  await terminal.sees(/team:greet +<who> +Greets somebody/)
  terminal.type("\u0015/help\r")
  await terminal.sees(/\/team:greet +<who> +Greets somebody/)
  terminal.type("/greet Ann\r")
  await terminal.sees("[y]es")
  await new Promise((resolve) => setTimeout(resolve, 700))
  terminal.type("y")
  await terminal.sees("Hello Ann.")
  assert.match(llm.requests[0]!.raw, /Greet Ann\. TOUCHED/)
})

test("ACP lists a command with its hint, asks about its shell line, and stores one message", async () => {
  await using tmp = await tmpdir({ git: true })
  await prepare(tmp)
  await using llm = await fakeLlm([text("one"), text("two")])
  await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
  await until(() => acp.of("available_commands_update").length > 0, "commands")
  const { availableCommands } = acp.of("available_commands_update").at(-1)!
  const listed = availableCommands.find(({ name }) => name === "team:greet")
  assert.deepEqual([listed?.description, listed?.input?.hint], ["Greets somebody", "<who>"])
  assert.equal((await acp.prompt("/team:greet Ann")).stopReason, "end_turn")
  assert.equal(acp.permissions.length, 1)
  assert.match(llm.requests[0]!.raw, /Greet Ann\. TOUCHED/)
  await acp.prompt("and now?")
  const said = llm.requests[1]!.messages.filter(({ role }) => role === "user").map((one) => one.text)
  assert.deepEqual(said, ["Greet Ann. TOUCHED", "and now?"])
})

test("a shell line that was asked about leaves one message in the stored session", async () => {
  await using tmp = await tmpdir({ git: true })
  await prepare(tmp)
  await using llm = await fakeLlm([text("one")])
  {
    await using acp = await withSession(tmp, { llm, permit: choose("allow_once") })
    await acp.prompt("/team:greet Ann")
    assert.equal(acp.permissions.length, 1)
  }
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  const { id } = [JSON.parse(out)].flat(2)[0] as { id: string }
  const exported = await vitamin(tmp, ["session", "export", id])
  assert.equal(exported.code, 0, exported.err)
  const { messages } = JSON.parse(exported.out) as { messages: { data: { role: string } }[] }
  assert.equal(messages.filter(({ data }) => data.role === "user").length, 1, exported.out)
})

test("HTTP lists commands and runs one, also with Prefer: respond-async", async () => {
  await using tmp = await tmpdir({ git: true })
  await prepare(tmp)
  await using llm = await fakeLlm([text("one"), text("two")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const request = (path: string, body?: object, more: Record<string, string> = {}) =>
    fetch(url + path, {
      method: body ? "POST" : "GET",
      headers: { authorization, "content-type": "application/json", ...more },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  assert.deepEqual(await (await request("/command")).json(), [
    { name: "team:greet", kind: "command", description: "Greets somebody", hint: "<who>" },
  ])
  const { id } = (await (await request("/session", {})).json()) as { id: string }
  const answer = await request(`/session/${id}/message`, { text: "/greet Ann", asks: "deny" })
  assert.equal(answer.status, 200, await answer.text())
  const accepted = await request(
    `/session/${id}/message`,
    { text: "/greet Bo", asks: "deny" },
    { prefer: "respond-async" },
  )
  assert.equal(accepted.status, 202)
  await until(() => llm.requests.length === 2, "the second prompt")
  for (const [i, who] of ["Ann", "Bo"].entries())
    assert.match(llm.requests[i]!.raw, new RegExp(`Greet ${who}\\.`))
})
