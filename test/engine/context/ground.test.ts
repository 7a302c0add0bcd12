// The grounding of an agent: overviews in its system prompt, and the tools that it names, as far as the rules allow.
import assert from "node:assert/strict"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Session from "#engine/session/session.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { inWorld, resultsOf } from "../session/harness.ts"

const toolsOf = (body: Record<string, unknown>) =>
  (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

test("an agent that names the repository gets its overview; the agent build gets neither the overview nor more tools", async () => {
  await inWorld([text("a"), text("b"), text("c")], async ({ tmp, ask, llm }) => {
    tmp.write("src/a.ts", "x")
    defineAgent({ id: "scout", tools: ["read", "symbols"], metadata: { grounding: ["code_repo"] } })
    await ask("one")
    await ask("two", { agent: "scout" })
    await ask("three", { agent: "plan" })
    const [build, scout, plan] = llm.requests
    assert.doesNotMatch(build!.system, /The repository has/)
    assert.doesNotMatch(toolsOf(build!.body).join(), /symbols|recall/)
    assert.match(scout!.system, /\n\nThe repository has about 1 file, [\s\S]+ src\/ \(1\)/)
    assert.deepEqual(toolsOf(scout!.body), ["read", "symbols"])
    assert.match(plan!.system, /The repository has/)
    assert.doesNotMatch(toolsOf(plan!.body).join(), /symbols|recall/)
  })
})

test("the overview has only files that the agent may read without asking, and is left out if there are none", async () => {
  const config = { permission: [{ permission: "file.read", pattern: "secret/**", action: "deny" }] }
  await inWorld(
    [text("a"), text("b")],
    async ({ tmp, ask, llm }) => {
      tmp.write("src/a.ts", "x")
      tmp.write("secret/plans.md", "x")
      defineAgent({ id: "scout", metadata: { grounding: ["code_repo"] } })
      await ask("one", { agent: "scout" })
      assert.match(llm.requests[0]!.system, / src\/ \(1\)$/m)
      assert.doesNotMatch(llm.requests[0]!.system, /secret|Markdown/)
      await ask("two", {
        agent: "scout",
        rules: [{ permission: "file.read", pattern: "**", action: "ask" }],
      })
      assert.doesNotMatch(llm.requests[1]!.system, /The repository has/)
    },
    { config },
  )
})

test("an agent that names the store gets earlier sessions if it may read them", async () => {
  await inWorld([text("a"), text("b"), text("c"), text("d")], async ({ ask, llm, session }) => {
    defineAgent({ id: "clerk", metadata: { grounding: ["data_store", "data_store"] } })
    const allowed = [{ permission: "file.read", pattern: "/**", action: "allow" as const }]
    const { id: earlier } = await Session.create()
    await ask("An earlier question", { sessionId: earlier })
    await ask("one", { agent: "clerk" })
    assert.doesNotMatch(llm.requests.at(-1)!.system, /The last sessions/)
    await ask("two", { agent: "clerk", rules: allowed })
    const { system } = llm.requests.at(-1)!
    assert.equal(system.match(/The last sessions in this project:\n- \S+ An earlier question/g)?.length, 1)
    assert.doesNotMatch(system, /- \S+ one/)
    await ask("three", { agent: "clerk", rules: allowed })
    assert.equal(llm.requests.at(-1)!.system, system)
    assert.equal((await Session.get(session.id)).title, "one")
  })
})

test("recall asks before it reads the store, then finds text of earlier sessions", async () => {
  const question = call("recall", { text: "the colour", where: ["data.role=user"] })
  const script = [text("Blue."), question, text("denied"), question, text("found")]
  await inWorld(script, async ({ ask, messages, llm }) => {
    defineAgent({ id: "clerk", tools: ["recall"] })
    const { id: earlier } = await Session.create()
    await ask("What is the colour of it?", { sessionId: earlier })
    await ask("What did I ask about the colour?", { agent: "clerk", asks: "deny" })
    assert.match(llm.requests.at(-1)!.messages.at(-1)!.results[0]!.text, /file\.read/)
    await ask("And now?", { agent: "clerk", asks: "once" })
    const [denied, found] = resultsOf(await messages())
    assert.equal(denied!.status, "error")
    assert.equal(found!.status, "success")
    assert.match(
      String(found!.output),
      new RegExp(`^message/${earlier}/msg_\\w+ \\(text\\): What is the colour`),
    )
    assert.doesNotMatch(String(found!.output), /What did I ask/)
  })
})

test("recall of all projects needs another permission than recall of this project", async () => {
  const script = [
    call("recall", { text: "x" }),
    call("recall", { text: "x", everywhere: true }),
    text("done"),
  ]
  await inWorld(script, async ({ ask, messages, session }) => {
    defineAgent({ id: "clerk", tools: ["recall"] })
    const own = [`session/${session.projectId}`, "message", "relation", "todo"].map((folder) => ({
      permission: "file.read",
      pattern: `/**/storage/${folder}`,
      action: "allow" as const,
    }))
    await ask("go", { agent: "clerk", asks: "deny", rules: own })
    assert.deepEqual(
      resultsOf(await messages()).map(({ status }) => status),
      ["success", "error"],
    )
  })
})

test("recall asks for each folder whose records it returns, and a rule for one folder allows no other", async () => {
  const search = (under?: string) => call("recall", { text: "colour", ...(under ? { under } : {}) })
  const script = [
    text("Blue."),
    call("recall", { text: "colour" }),
    search("session"),
    search("message"),
    search("message"),
    text("done"),
  ]
  await inWorld(script, async ({ ask, messages, session }) => {
    defineAgent({ id: "clerk", tools: ["recall"] })
    const { id: earlier } = await Session.create()
    await ask("What is the colour of it?", { sessionId: earlier })
    const rule = (folder: string, action: "allow" | "deny") => ({
      permission: "file.read",
      pattern: `/**/storage/${folder}`,
      action,
    })
    const sessions = rule(`session/${session.projectId}/**`, "allow")
    const alone = rule(`session/${session.projectId}`, "allow")
    await ask("go", { agent: "clerk", asks: "deny", rules: [sessions, alone] })
    const [all, titles, refused] = resultsOf(await messages())
    assert.equal(all!.status, "error")
    assert.match(String(all!.output), /storage\/message/)
    assert.equal(titles!.status, "success")
    assert.match(String(titles!.output), /^session\//)
    assert.doesNotMatch(String(titles!.output), /message\//)
    assert.equal(refused!.status, "error")
  })
  await inWorld([text("Blue."), search("message"), text("done")], async ({ ask, messages }) => {
    defineAgent({ id: "clerk", tools: ["recall"] })
    const { id: earlier } = await Session.create()
    await ask("What is the colour of it?", { sessionId: earlier })
    const denied = { permission: "file.read", pattern: `/**/message/${earlier}/**`, action: "deny" as const }
    await ask("go", { agent: "clerk", asks: "once", rules: [denied] })
    assert.match(String(resultsOf(await messages())[0]!.output), /Nothing stored fits/)
  })
})
