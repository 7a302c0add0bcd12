// What an agent adds to a prompt: its system prompt, tools, model and settings.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Session from "#engine/session/session.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { inWorld, resultsOf } from "./harness.ts"

test("Session.prompt() uses the given agent, then the session's, and stores it", async () => {
  await inWorld([text("a"), text("b"), text("c")], async ({ ask, llm, session }) => {
    assert.equal(session.agent, "build")
    defineAgent({ id: "poet", systemPrompt: "Answer in verse.", tools: ["read", "nowhere"] })
    const answer = await ask("one", { agent: "poet" })
    assert.equal(answer.agent, "poet")
    assert.equal((await Session.get(session.id)).agent, "poet")
    await ask("two")
    await ask("three", { agent: "build" })
    const [one, two, three] = llm.requests
    assert.match(one!.system, /Answer in verse\./)
    assert.equal(two!.system, one!.system)
    assert.doesNotMatch(three!.system, /Answer in verse\./)
    assert.deepEqual(
      one!.tools.map(({ name }) => name),
      ["read"],
    )
    assert.ok(three!.tools.length > 4)
  })
})

test("an unknown agent is an error before anything is sent or created", async () => {
  await inWorld([], async ({ ask, llm, messages }) => {
    const missing = { name: "Agent.NotFound", message: /"pln" does not exist.*Did you mean "plan"\?/ }
    await assert.rejects(ask("x", { agent: "pln" }), missing)
    const before = (await Session.list()).length
    await assert.rejects(Session.create({ agent: "pln" }), missing)
    assert.equal((await Session.list()).length, before)
    assert.deepEqual([llm.requests.length, await messages()], [0, []])
  })
})

test("Session.create() refuses an agent whose file was removed or became invalid since the last prompt", async () => {
  await inWorld([], async ({ tmp }) => {
    for (const id of ["gone", "broken"]) {
      tmp.write(`.vitamin/agents/${id}.md`, "---\ndescription: Works.\n---\nWork.\n")
      assert.equal((await Session.create({ agent: id })).agent, id)
    }
    rmSync(join(tmp.path, ".vitamin/agents/gone.md"))
    tmp.write(".vitamin/agents/broken.md", "---\ntools: 7\n---\nWork.\n")
    for (const agent of ["gone", "broken"])
      await assert.rejects(Session.create({ agent }), { name: "Agent.NotFound" })
  })
})

test("Session.create() uses the configured agent if none is given", async () => {
  await inWorld(
    [],
    async ({ session }) => {
      assert.equal(session.agent, "plan")
      assert.equal((await Session.create({ agent: "build" })).agent, "build")
    },
    { config: { agent: { name: "plan" } } },
  )
})

test("the model is the caller's, then the session's, then the agent's, then the environment's", async () => {
  const models = { "of-agent": {}, "of-session": {}, "of-call": {}, alone: {} }
  const provider = { openai: { models } }
  await inWorld(
    [text("a"), text("b"), text("c"), text("d"), text("e")],
    async ({ ask, llm }) => {
      defineAgent({ id: "own", model: "openai/of-agent" })
      defineAgent({ id: "bare", model: "alone" })
      const asked = async (options: { agent?: string; model?: string }, model?: string) => {
        const session = await Session.create(options)
        await ask("x", { sessionId: session.id, ...(model ? { model } : {}) })
        return llm.requests.at(-1)!.model
      }
      assert.equal(await asked({ agent: "own", model: "openai/of-session" }, "openai/of-call"), "of-call")
      assert.equal(await asked({ agent: "own", model: "openai/of-session" }), "of-session")
      assert.equal(await asked({ agent: "own" }), "of-agent")
      assert.equal(await asked({ agent: "bare" }), "alone")
      assert.equal(await asked({}), "fake-model")
    },
    { config: { provider } },
  )
})

test("each request has the agent's temperature, token limit and effort, and the session id for the prompt cache", async () => {
  const openai = { models: { "gpt-5": { api: "responses", reasoning: true } } }
  await inWorld(
    [call("ls"), text("a")],
    async ({ ask, llm, session }) => {
      defineAgent({ id: "cool", temperature: 0.1, maxTokens: 321, metadata: { reasoning: "high" } })
      await ask("x", { agent: "cool", model: "openai/gpt-5" })
      assert.equal(llm.requests.length, 2)
      for (const { body } of llm.requests) {
        assert.equal(body.max_output_tokens, 321)
        assert.equal((body.reasoning as { effort: string }).effort, "high")
        assert.equal(body.prompt_cache_key, session.id)
      }
    },
    { config: { provider: { openai } } },
  )
  await inWorld([text("a")], async ({ ask, llm }) => {
    defineAgent({ id: "cool", temperature: 0.1, maxTokens: 321 })
    await ask("x", { agent: "cool" })
    assert.deepEqual([llm.requests[0]!.body.temperature, llm.requests[0]!.body.max_tokens], [0.1, 321])
  })
})

test("a tool that the agent was not given is refused at the gate, whatever the rules allow", async () => {
  await inWorld([call("ls"), text("a"), call("bash", { command: "touch x" }), text("b")], async (world) => {
    defineAgent({ id: "reader", tools: ["read"] })
    await world.ask("one", { agent: "reader", asks: "once" })
    await world.ask("two", { agent: "plan", asks: "once" })
    const [ls, bash] = resultsOf(await world.messages())
    assert.deepEqual([ls?.status, bash?.status], ["error", "error"])
    assert.match(String(ls?.output), /"ls" is not a tool of the agent "reader"\. Its tools: read$/)
    assert.match(String(bash?.output), /"bash" is not a tool of the agent "plan"/)
  })
})

test("a changed agent file is used from the next prompt on", async () => {
  await inWorld([text("a"), text("b")], async ({ ask, llm, tmp }) => {
    tmp.write(".vitamin/agents/poet.md", "---\n---\nAnswer in verse.\n")
    await ask("one", { agent: "poet" })
    tmp.write(".vitamin/agents/poet.md", "---\ntools: [read]\n---\nAnswer in prose.\n")
    await ask("two")
    const [one, two] = llm.requests
    assert.match(one!.system, /Answer in verse\./)
    assert.match(two!.system, /Answer in prose\./)
    assert.deepEqual([one!.tools.length > 1, two!.tools.length], [true, 1])
  })
})
