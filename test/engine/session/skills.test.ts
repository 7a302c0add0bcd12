// A session in a project with skills: what the model gets, and what their scripts may do.
import assert from "node:assert/strict"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import * as Permission from "#ability/permission/permission.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { tinyServer } from "../../ability/mcp/servers.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { inWorld, resultsOf } from "./harness.ts"
import { next } from "./needy.ts"

const fixture = fileURLToPath(new URL("../../fixture/skills", import.meta.url))
const script = "./.vitamin/skills/release-notes/scripts/collect.mjs"
const toolsOf = (body: Record<string, unknown>) =>
  (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

test("the model gets the matching skill, and its script runs in a trusted folder by the rules for commands", async () => {
  const replies = [call("bash", { command: `node ${script}` }), text("Written."), text("Again.")]
  await inWorld(
    replies,
    async ({ tmp, ask, llm, messages }) => {
      cpSync(fixture, join(tmp.path, ".vitamin/skills"), { recursive: true })
      await Trust.grant(tmp.path)
      await ask("write the release notes for 2.4.0", { rules: [Permission.parseRule("bash.execute:node *")] })
      const sent = JSON.stringify(llm.requests[0]!.body)
      assert.ok(/# Release notes\\n\\n1\. Collect what changed/.test(sent))
      assert.ok(sent.includes(`node ${script}`))
      const [result] = resultsOf(await messages())
      assert.match(String(result!.output), /"other": \[\s+"fixture"/)
      await ask("and write the release notes for 2.5.0")
      const again = JSON.stringify(llm.requests.at(-1)!.body)
      assert.equal(again.match(/# Release notes/g)?.length, 1, "what the model still sees is not said again")
      assert.equal(llm.requests[0]!.system, llm.requests.at(-1)!.system, "the system prompt stays as it is")
    },
    { git: true },
  )
})

test("in an untrusted folder, a skill's script is asked for by its name, even if a wildcard allows it", async () => {
  await inWorld(
    [call("bash", { command: `node ${script}` }), text("Written.")],
    async ({ tmp, ask, messages }) => {
      cpSync(fixture, join(tmp.path, ".vitamin/skills"), { recursive: true })
      const answer = ask("write the release notes", { rules: [Permission.parseRule("bash.execute:*")] })
      const [request] = await next()
      assert.match(JSON.stringify(request), /collect\.mjs/)
      await Permission.reply(request!.id, "once")
      await answer
      assert.match(String(resultsOf(await messages())[0]!.output), /fixture/)
    },
    { git: true },
  )
})

test("a project's script with the name of the person's own script is asked for; the own one is not", async () => {
  let commands: string[] = []
  await inWorld(
    (_, turn) => (turn < 2 ? call("bash", { command: commands[turn]! }) : text("Done.")),
    async ({ tmp, ask, messages }) => {
      const own = tmp.write("../home/.claude/skills/a/scripts/own.sh", "echo own\n")
      commands = [`bash ${own}`, "bash .claude/skills/a/scripts/own.sh"]
      tmp.write(".claude/skills/a/scripts/own.sh", "echo theirs\n")
      const answer = ask("go", { rules: [Permission.parseRule("bash.execute:bash *")] })
      const [request] = await next()
      assert.doesNotMatch(JSON.stringify(request), /home/)
      await Permission.reply(request!.id, "reject")
      await answer
      const outputs = resultsOf(await messages()).map(({ output }) => String(output))
      assert.match(outputs[0]!, /own/)
      assert.doesNotMatch(outputs[1]!, /theirs/)
    },
    { git: true },
  )
})
test("if no skill fits, the model gets their names once, with the first prompt", async () => {
  await inWorld([text("a"), text("b")], async ({ tmp, ask, llm }) => {
    cpSync(fixture, join(tmp.path, ".claude/skills"), { recursive: true })
    await ask("why is the sky blue?")
    await ask("hello")
    const sent = JSON.stringify(llm.requests[1]!.body)
    assert.equal(sent.match(/- translation: Translates interface texts/g)?.length, 1)
    assert.ok(!sent.includes("Never translate a placeholder"))
  })
})

test("unreadable skills are not listed, and a task cannot call skills for people only", async () => {
  await inWorld(
    [call("subtask", { task: "/launch the thing" }), text("No."), text("Done.")],
    async ({ tmp, ask, llm }) => {
      cpSync(fixture, join(tmp.path, ".vitamin/skills"), { recursive: true })
      const front = "name: launch\ndescription: Launches.\ndisable-model-invocation: true"
      tmp.write("skills/launch/SKILL.md", `---\n${front}\n---\nTHREE TWO ONE\n`)
      const allowed = Permission.parseRule("agent.delegate:*")
      const denied = { ...allowed, permission: "file.read", pattern: ".vitamin/skills/release-notes/**" }
      await ask("write the release notes for 2.4.0", { rules: [allowed, { ...denied, action: "deny" }] })
      const sent = llm.requests.map(({ body }) => JSON.stringify(body))
      assert.equal(sent.length, 3, "the task had a turn of its own")
      assert.ok(sent[1]!.includes("/launch the thing"))
      for (const one of sent) assert.doesNotMatch(one, /Collect what changed|THREE TWO ONE/)
    },
    { git: true },
  )
})

test("without skills, the model is told nothing about skills", async () => {
  await inWorld([text("a")], async ({ ask, llm }) => {
    await ask("write the release notes")
    assert.ok(!/skill/i.test(JSON.stringify(llm.requests[0]!.body.messages)))
  })
})

test("a skill's MCP server gives its tools to the prompt that uses the skill, in a trusted folder", async () => {
  await inWorld(
    [text("a"), text("b"), text("c")],
    async ({ tmp, ask, llm }) => {
      const server = JSON.stringify(tinyServer({ tools: [{ name: "whisper" }] }))
      tmp.write(
        "skills/quiet/SKILL.md",
        `---\nname: quiet\ndescription: Be quiet.\nmcp: { tiny: ${server} }\n---\nHush.\n`,
      )
      await ask("/quiet now")
      assert.doesNotMatch(toolsOf(llm.requests[0]!.body).join(), /whisper/)
      await Trust.grant(tmp.path)
      await ask("/quiet again")
      assert.match(toolsOf(llm.requests[1]!.body).join(), /whisper/)
      await Trust.remove(tmp.path)
      await ask("/quiet once more")
      assert.doesNotMatch(toolsOf(llm.requests[2]!.body).join(), /whisper/)
    },
    { git: true },
  )
})
