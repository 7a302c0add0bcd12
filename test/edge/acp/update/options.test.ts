// The options of a session through `vitamin acp`: model, agent, mode.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { SessionConfigOption } from "@agentclientprotocol/sdk"
import { vitamin } from "../../../fixture/cli.ts"
import { call, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { choose, on, withSession } from "../harness.ts"

test("the model option lists usable models, and one of them can be set", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two.")])
  const models = { "fake-model": {}, "other-model": { name: "The other one" } }
  const env = { VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }) }
  await using acp = await withSession(tmp, { llm, env })
  const { sessionId, agent, opened } = acp
  const model = optionOf(opened.configOptions, "model")
  assert.equal(model.category, "model")
  assert.equal(model.currentValue, "openai/fake-model")
  const values = valuesOf(model)
  assert.ok(["openai/fake-model", "openai/other-model", "local/rules"].every((one) => values.includes(one)))
  assert.ok(!values.some((value) => value.startsWith("anthropic/")), "there is no key for it")
  await acp.prompt("one")
  const value = "openai/other-model"
  const set = await agent.request(on.session.setConfigOption, { sessionId, configId: "model", value })
  assert.equal(optionOf(set.configOptions, "model").currentValue, value)
  await acp.prompt("two")
  assert.deepEqual(
    llm.requests.map((request) => request.model),
    ["fake-model", "other-model"],
  )
  await agent.request(on.session.close, { sessionId })
  const again = await agent.request(on.session.resume, { sessionId, cwd: tmp.path })
  assert.equal(optionOf(again.configOptions, "model").currentValue, value)
  await assert.rejects(
    agent.request(on.session.setConfigOption, {
      sessionId,
      configId: "model",
      value: "anthropic/claude-opus-4-1",
    }),
    { code: -32000, message: /needs a key/ },
  )
})

test("a model that is set while a prompt starts takes effect with the next prompt", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("One."), text("Two.")])
  await using acp = await withSession(tmp, { llm })
  const { sessionId, agent } = acp
  const [first] = await Promise.all([
    acp.prompt("one"),
    agent.request(on.session.setConfigOption, { sessionId, configId: "model", value: "openai/gpt-4.1" }),
  ])
  assert.equal(first.stopReason, "end_turn")
  await acp.prompt("two")
  assert.equal(llm.requests[1]!.model, "gpt-4.1")
})

test("--model and --agent apply to new sessions only", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("Yes.")])
  const args = ["--model", "openai/third-model", "--agent", "plan"]
  await using acp = await withSession(tmp, { llm, args })
  assert.equal(optionOf(acp.opened.configOptions, "model").currentValue, "openai/third-model")
  assert.equal(optionOf(acp.opened.configOptions, "agent").currentValue, "plan")
  await acp.prompt("hello")
  assert.equal(llm.requests[0]!.model, "third-model")
})

test("the mode is also an option; set while a turn runs, it takes effect with the next prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  const write = (path: string) => call("write", { path, content: "x" })
  await using llm = await fakeLlm([write("a.txt"), text("Done."), write("b.txt"), text("Planned.")])
  const { permit, allow } = holding()
  await using acp = await withSession(tmp, { llm, permit })
  const { sessionId, agent } = acp
  const answer = acp.prompt("write")
  await until(() => acp.permissions.length, "the person is asked")
  const { configOptions } = await agent.request(on.session.setConfigOption, {
    sessionId,
    configId: "mode",
    value: "plan",
  })
  assert.equal(optionOf(configOptions, "mode").currentValue, "plan")
  allow()
  assert.equal((await answer).stopReason, "end_turn")
  assert.equal(acp.of("current_mode_update").at(-1)?.currentModeId, "plan")
  await acp.prompt("write the other")
  assert.equal(acp.permissions.length, 1)
  const { out } = await vitamin(tmp, ["session", "show", sessionId, "--format", "json"])
  assert.equal(JSON.parse(out).session.mode, "plan")
})

test("an option that is set while a turn runs is reported with its new value before the turn ends", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" }), text("Done.")])
  const { permit, allow } = holding()
  await using acp = await withSession(tmp, { llm, permit })
  const { sessionId, agent } = acp
  const answer = acp.prompt("write")
  await until(() => acp.permissions.length, "the person is asked")
  const set = (configId: string, value: string) =>
    agent.request(on.session.setConfigOption, { sessionId, configId, value })
  await set("mode", "plan")
  const before = acp.updates.length
  await set("model", "openai/gpt-4.1")
  allow()
  await answer
  const told = acp.updates
    .slice(before)
    .flatMap(({ update }) => (update.sessionUpdate === "config_option_update" ? [update.configOptions] : []))
    .map((options) => ["mode", "model"].map((id) => optionOf(options, id).currentValue))
  assert.deepEqual(told.at(-1), ["plan", "openai/gpt-4.1"])
  assert.ok(
    told.every(([mode]) => mode === "plan"),
    JSON.stringify(told),
  )
})

function optionOf(options: SessionConfigOption[] | null | undefined, id: string) {
  const option = options?.find((one) => one.id === id)
  assert.ok(option?.type === "select", `there is no option ${id}`)
  return option
}

function valuesOf(option: ReturnType<typeof optionOf>): string[] {
  return option.options.flatMap((one) => ("value" in one ? [one.value] : []))
}

/** A person who allows the request when `allow` is called. */
function holding() {
  const { promise: told, resolve: allow } = Promise.withResolvers<void>()
  const permit: ReturnType<typeof choose> = async (request) => {
    await told
    return choose("allow_once")(request)
  }
  return { permit, allow }
}
