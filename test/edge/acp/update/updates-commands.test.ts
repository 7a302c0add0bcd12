// Slash commands: the list, and what a typed command does.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Mcp from "#ability/mcp/mcp.ts"
import { availableCommands } from "#edge/acp/update/updates.ts"
import { expandCommand } from "#engine/attach/expand-command.ts"
import * as Session from "#engine/session/session.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { mcpJson, officialServer } from "../../../ability/mcp/servers.ts"
import { inWorld, type World } from "../../../engine/session/harness.ts"
import { text } from "../../../fixture/fake-llm.ts"
import { assertIs } from "../schema.ts"

const skill = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: What ${name}\u001b[2J does\n${more}---\nAlways do ${name}.\n`

async function withEverything({ tmp }: World): Promise<void> {
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await Trust.grant(tmp.path)
}

async function names(sessionId?: string): Promise<string[]> {
  const commands = await availableCommands(sessionId === undefined ? {} : { sessionId })
  assertIs("AvailableCommandsUpdate", { availableCommands: commands })
  return commands.map(({ name }) => name)
}

test("skills are commands, including those for people only, and a command loads its skill", async () => {
  await inWorld([text("ok"), text("ok")], async ({ tmp, ask, llm }) => {
    assert.deepEqual(await names(), [])
    tmp.write(".vitamin/skills/first/SKILL.md", skill("first"))
    tmp.write(".vitamin/skills/second/SKILL.md", skill("second", "disable-model-invocation: true\n"))
    assert.deepEqual(await names(), ["first", "second"])
    const [command] = await availableCommands()
    assert.match(command!.description, /^What first\\u\{1b\}\[2J does$/)
    assert.ok(command!.input?.hint)
    await ask("/second with these words")
    assert.match(llm.requests[0]!.raw, /Always do second\./)
    assert.match(llm.requests[0]!.raw, /with these words/)
  })
})

test("prompts of a server are commands once the server has run; listing commands starts no server", async () => {
  await inWorld(
    [],
    async (world) => {
      await withEverything(world)
      assert.deepEqual(await names(), [])
      await Mcp.connect("everything")
      const commands = await availableCommands()
      const command = commands.find(({ name }) => name === "everything:args-prompt")
      assert.equal(command?.input?.hint, "city=… [state=…]")
      assert.equal(commands.find(({ name }) => name === "everything:simple-prompt")?.input, undefined)
    },
    { git: true },
  )
})

test("a server's command is replaced by the server's text, followed by the rest of the prompt", async () => {
  await inWorld(
    [text("Sunny.")],
    async (world) => {
      const { session, ask, llm } = world
      await withEverything(world)
      await Mcp.connect("everything")
      const said = async (words: string) => {
        const parts = (await expandCommand(words, session.id)) as Session.PromptPart[] | undefined
        return parts?.map((part) => (part.type === "text" ? part.text : part.type))
      }
      const weather = (city: string) => [`What's weather in ${city}?`]
      assert.deepEqual(await said("/everything:args-prompt city=Oslo"), weather("Oslo"))
      assert.deepEqual(await said("/everything:args-prompt New York"), weather("New York"))
      assert.deepEqual(
        await said(' /everything:args-prompt city="New York" state=NY'),
        weather("New York, NY"),
      )
      assert.deepEqual(await said("/everything:args-prompt city=Oslo in one word"), [
        ...weather("Oslo"),
        "in one word",
      ])
      assert.equal((await said("/everything:simple-prompt please"))!.at(-1), "please")
      for (const other of ["words", "/usr/bin/env: x", "a /everything:simple-prompt"])
        assert.equal(await said(other), undefined, other)
      await assert.rejects(said("/everything:simple-promt"), /Did you mean "\/everything:simple-prompt"\?/)
      await assert.rejects(
        said("/everything:args-prompt state=NY"),
        /needs "city" \(Name of the city\)\. Use it as: \/everything:args-prompt city=… \[state=…\]/,
      )
      await ask("/everything:args-prompt Oslo")
      assert.match(llm.requests[0]!.raw, /What's weather in Oslo\?/)
      assert.equal((await Session.get(session.id)).title, "What's weather in Oslo?")
    },
    { git: true },
  )
})
