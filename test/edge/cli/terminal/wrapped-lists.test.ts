// Lists in a narrow terminal: no word is broken, and further lines of an entry are indented to its last column.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const columns = 60

async function shownBy(tmp: Tmp, args: string[]): Promise<string[]> {
  await using terminal = openTerminal(tmp, args, { before: `stty cols ${columns}` })
  await terminal.exit
  return terminal.shown().split("\n")
}

/** Words that fit into the last column. */
const wordsOf = (lines: string[]) =>
  lines.flatMap((line) => line.split(/\s+/)).filter((word) => word.length > 0 && word.length < 30)

for (const [args, indent] of [
  [["tool", "list"], 4],
  [["agent", "list"], 4],
  [["skill", "list"], 4],
  [["doctor"], 21],
] as const)
  test(`vitamin ${args.join(" ")} wraps between words`, async () => {
    await using tmp = await tmpdir({ git: true })
    const description =
      "Writes release notes from the commits since the last tag, in the words of the project."
    tmp.write(".vitamin/skills/notes/SKILL.md", `---\nname: notes\ndescription: ${description}\n---\nDo.\n`)
    // The first command leaves a record, which doctor counts.
    await vitamin(tmp, [...args, "--trust"])
    const piped = (await vitamin(tmp, [...args, "--trust"])).out.split("\n")
    const shown = await shownBy(tmp, [...args, "--trust"])
    assert.deepEqual(wordsOf(shown), wordsOf(piped))
    const further = shown.filter((line) => line.search(/\S/) === indent)
    assert.ok(further.length > 0, shown.join("\n"))
    for (const line of shown.filter((line) => !/\S{30}/.test(line))) assert.ok(line.length <= columns, line)
  })

test("vitamin session show wraps between words", async () => {
  await using tmp = await tmpdir({ git: true })
  const answer = "The answer is a sentence that is longer than a narrow terminal and goes on below."
  await using llm = await fakeLlm([text(answer)])
  await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  const shown = await shownBy(tmp, ["session", "show"])
  const at = shown.findIndex((line) => line.startsWith("[assistant]"))
  assert.deepEqual(shown.slice(at, at + 2), [
    "[assistant] The answer is a sentence that is longer than a",
    "narrow terminal and goes on below.",
  ])
})

test("tool list, tool search and mcp show print the first paragraph of a description on one line", async () => {
  await using tmp = await tmpdir({ git: true })
  const first = [
    "Measures the pressure of a boiler",
    `in bar, ${"and says when it was measured, ".repeat(4)}`,
  ]
  const description = `\n${first.join("\n")}\nby whom.\n\nArgs:\n  boiler: its number`
  tmp.write(".mcp.json", mcpJson({ plant: tinyServer({ tools: [{ name: "gauge", description }] }) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const said = `${first.join(" ").trim()} by whom.`
  for (const args of [
    ["mcp", "show", "plant"],
    ["tool", "list"],
    ["tool", "search", "pressure of a boiler"],
  ]) {
    const { out } = await vitamin(tmp, args)
    assert.match(out, new RegExp(`gauge.* ${said}$`, "m"))
    assert.doesNotMatch(out, /Args/)
    const shown = (await shownBy(tmp, args)).map((line) => line.trim()).join(" ")
    assert.ok(shown.includes(said), shown)
  }
  const { out } = await vitamin(tmp, ["tool", "list", "--format", "json"])
  assert.match(out, /Args:/)
})
