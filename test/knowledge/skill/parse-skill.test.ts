import assert from "node:assert/strict"
import { test } from "node:test"
import { isSkillName, parseSkill } from "#knowledge/skill/parse-skill.ts"

const parse = (text: string, expected = "a-skill") => parseSkill(text, { source: "SKILL.md", expected })
const withFront = (front: string, expected?: string) => parse(`---\n${front}\n---\nDo it.\n`, expected)
const messages = (front: string, expected?: string) =>
  withFront(front, expected).problems.map(({ level, line, message }) => `${level} ${line} ${message}`)

test("parseSkill() reads every field of the specification, and the instructions", () => {
  const { skill, problems } = withFront(
    'name: a-skill\ndescription: What it does.\nlicense: MIT\ncompatibility: git\nmetadata:\n  author: me\n  version: "1.0"\nallowed-tools: Bash(git add *) Read, Edit',
  )
  assert.deepEqual(problems, [])
  assert.deepEqual(skill, {
    name: "a-skill",
    description: "What it does.",
    license: "MIT",
    compatibility: "git",
    metadata: { author: "me", version: "1.0" },
    allowedTools: ["Bash(git add *)", "Read", "Edit"],
    isManual: false,
    mcp: {},
    body: "Do it.",
  })
  const listed = withFront("name: a-skill\ndescription: x\nallowed-tools:\n  - Read\n  - Bash(jq:*)").skill
  assert.deepEqual(listed?.allowedTools, ["Read", "Bash(jq:*)"])
})

test("isSkillName() checks names by the specification", () => {
  for (const name of ["a", "pdf-processing", "a1-2b", "é", "日本", "x".repeat(64)])
    assert.equal(isSkillName(name), true, name)
  for (const name of ["", "A", "-a", "a-", "a--b", "a b", "a_b", "a.b", "../a", "x".repeat(65), "a\n"])
    assert.equal(isSkillName(name), false, JSON.stringify(name))
})

test("parseSkill() reports violations of the specification, and uses the skill if its meaning is clear", () => {
  assert.deepEqual(messages("name: other\ndescription: x"), [
    'breach 2 name: "other" is not the name of its folder or file, "a-skill"',
  ])
  const [wrong] = messages("name: PDF Tools!\ndescription: x")
  assert.match(wrong!, /^error 2 name: "PDF Tools!" is not made of .*; it is called "pdf-tools"$/)
  assert.equal(withFront("name: PDF Tools!\ndescription: x").skill?.name, "pdf-tools")
  assert.equal(withFront("description: x").skill?.name, "a-skill")
  assert.match(messages("description: x")[0]!, /^breach \d a skill needs a name, here "a-skill"$/)
  assert.match(
    messages(`name: a-skill\ndescription: ${"x".repeat(1025)}`)[0]!,
    /1025 characters are too many/,
  )
  assert.deepEqual(messages(`name: a-skill\ndescription: ${"é".repeat(1024)}`), [])
  assert.match(
    messages(`name: a-skill\ndescription: x\ncompatibility: ${"x".repeat(501)}`)[0]!,
    /501 characters/,
  )
  assert.match(
    messages("name: a-skill\ndescription: x\nmetadata: { version: 1 }")[0]!,
    /version: a text is expected/,
  )
  assert.match(messages("name: a-skill\ndescription: x\nmetadata: [1]")[0]!, /an object of texts/)
  assert.match(
    messages("name: a-skill\ndescription: x\nversion: 2")[0]!,
    /^breach 4 version: this key is not in/,
  )
})

test("parseSkill() accepts a description with a colon, which is invalid YAML", () => {
  const { skill, problems } = withFront("name: a-skill\ndescription: Use it when: the person asks")
  assert.equal(skill?.description, "Use it when: the person asks")
  assert.deepEqual(
    problems.map(({ level, line }) => [level, line]),
    [["breach", 3]],
  )
})

test("parseSkill() reads MCP servers in every usual form, and disable-model-invocation", () => {
  const server = { command: "npx", args: ["x"] }
  const mcpOf = (front: string) => withFront(`name: a-skill\ndescription: x\n${front}`).skill?.mcp
  assert.deepEqual(mcpOf("mcp:\n  play: { command: npx, args: [x] }"), { mcpServers: { play: server } })
  assert.deepEqual(mcpOf("mcp:\n  servers:\n    play: { command: npx, args: [x] }"), {
    servers: { play: server },
  })
  assert.deepEqual(mcpOf("mcpServers:\n  play: { command: npx, args: [x] }"), {
    mcpServers: { play: server },
  })
  assert.deepEqual(mcpOf("mcp: [{ name: play, command: npx }]"), {
    servers: [{ name: "play", command: "npx" }],
  })
  assert.deepEqual(mcpOf("mcp: yes please"), {})
  assert.equal(withFront("description: x\ndisable-model-invocation: true").skill?.isManual, true)
})

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghij".replaceAll(/./g, (c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefghij"[i]}`)}]\n`)}`
for (const [what, text, expected] of [
  ["no front matter", "# Title\n", /does not begin with "---"/],
  ["nothing", "", /does not begin/],
  ["front matter without an end", "---\nname: a\n", /not closed/],
  ["code", "---js\nmodule.exports = { name: process.exit(9) }\n---\n", /kind "js" is not read/],
  ["an alias bomb", `---\n${bomb}---\n`, /aliases/],
  ["doubled keys", "---\nname: a\nname: b\ndescription: x\n---\n", /"name" is there twice/],
  [
    "giant front matter",
    `---\nname: a\ndescription: x\nmetadata:\n  x: ${"y".repeat(200_000)}\n---\n`,
    /too many/,
  ],
  ["NUL bytes", "---\nname: a\ndescription: x\n---\na\0b", /NUL/],
  ["a list", "---\n- a\n---\n", /no keys/],
  ["no description", "---\nname: a-skill\n---\nx", /needs a description/],
  ["an empty description", '---\nname: a-skill\ndescription: "  "\n---\nx', /needs a description/],
  ["a description that is a list", "---\nname: a-skill\ndescription: [x]\n---\nx", /a text is expected/],
] as const)
  test(`parseSkill() refuses ${what}, and gives the reason`, () => {
    const { skill, problems } = parse(text)
    assert.equal(skill, undefined)
    assert.match(problems.map(({ message }) => message).join("\n"), expected)
  })

test("parseSkill() advises against long instructions and against none", () => {
  const long = parse(`---\nname: a-skill\ndescription: x\n---\n${"line\n".repeat(600)}`)
  assert.match(long.problems[0]!.message, /600 lines .* move some to references/)
  assert.equal(long.problems[0]!.level, "warning")
  assert.match(parse("---\nname: a-skill\ndescription: x\n---\n").problems[0]!.message, /no instructions/)
})
