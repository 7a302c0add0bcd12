// Notes of a prompt are not lost when its own work fills the window.
import assert from "node:assert/strict"
import { test } from "node:test"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { call, type Reply, type Request, text } from "../../fixture/fake-llm.ts"
import { defineTool } from "./harness.ts"
import { inPatientWorld } from "./patient.ts"

const context = 24_000
const config = { provider: { openai: { models: { "fake-model": { context, output: 2_000 } } } } }
const skill = "---\nname: deploy\ndescription: Deploys things.\n---\nAlways tag the release first.\n"
const linked = "Releases go out on Tuesdays."

test("a skill and a document are sent again if a compaction during a prompt dropped them", async () => {
  let n = 0
  const script = (request: Request): Reply => {
    const usage = { input: Math.ceil(request.raw.length / 4), output: 50 }
    if (/^You summarise/.test(request.system)) return { usage, ...text("The goal is to deploy.") }
    return { usage, ...(++n < 40 ? call("look", { value: `${n}` }) : text("Deployed.")) }
  }
  await inPatientWorld(
    script,
    async ({ tmp, ask, llm, messages }) => {
      process.env.OPENAI_BASE_URL = `${llm.url}/v1`
      tmp.write("skills/deploy/SKILL.md", skill)
      tmp.write("AGENTS.md", "[How releases are deployed](docs/deploy.md)")
      tmp.write("docs/deploy.md", `# Deploying a release\n\n${linked}\n`)
      defineTool("look", async ({ value }) => `${value}: ${"plain words ".repeat(500)}`, { readOnly: true })
      await ask("/deploy How are releases deployed?")
      const compactions = (await messages()).filter(
        ({ type, data }) => type === "system_control" && data.control === "compaction",
      )
      assert.ok(compactions.length > 0)
      const turns = llm.requests.filter(({ system }) => !/^You summarise/.test(system))
      for (const words of ["Always tag the release first.", linked])
        assert.deepEqual(
          turns.map(({ raw }) => raw.split(words).length - 1).filter((times) => times !== 1),
          [],
          words,
        )
    },
    { config },
  )
})

test("notes that are sent again after a compaction fit with results that fill the window", async () => {
  const small = 16_384
  let n = 0
  const tokensOf = ({ system, body, messages }: Request) =>
    [
      system,
      JSON.stringify(body.tools ?? []),
      ...messages.flatMap((one) => [one.text, ...one.results.map((result) => result.text)]),
    ].reduce((sum, part) => sum + estimateTokens(part), 0)
  const script = (request: Request): Reply => {
    const usage = { input: tokensOf(request), output: 50 }
    if (/^You summarise/.test(request.system)) return { usage, ...text("The goal is to deploy.") }
    const said = text("It says nothing new about the deployment. ".repeat(40)).blocks
    const look = call("look", { value: `${++n}` })
    return { usage, ...(n < 16 ? { ...look, blocks: [...said, ...look.blocks] } : text("Deployed.")) }
  }
  await inPatientWorld(
    script,
    async ({ tmp, ask, llm }) => {
      tmp.write("skills/deploy/SKILL.md", `${skill}${"Then check each of the servers. ".repeat(120)}\n`)
      defineTool("look", async ({ value }) => `${value}: ${"plain words ".repeat(3_000)}`, { readOnly: true })
      await ask("/deploy How are releases deployed?")
      const turns = llm.requests.filter(({ system }) => !/^You summarise/.test(system))
      assert.ok(turns.length < llm.requests.length, "a summary left the skill out")
      for (const request of turns) {
        assert.match(request.raw, /Always tag the release first/)
        assert.ok(tokensOf(request) <= small * 0.75, `${tokensOf(request)} tokens`)
      }
    },
    { config: { provider: { openai: { models: { "fake-model": { context: small } } } } } },
  )
})
