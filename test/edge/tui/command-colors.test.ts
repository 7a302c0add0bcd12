// Colours of a command in a real terminal: people see them, and neither the model nor a program that reads the events does.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const enter = "\r"
const isReady = /^ask · /m
const command =
  "printf '\\033[1;31mred\\033[0m and \\033[38;2;10;20;30mdeep\\033[0m \\033]0;title\\007\\033[8mshy\\033[0m\\n'"
const allowed = {
  VITAMIN_CONFIG: JSON.stringify({ permission: [{ permission: "*", pattern: "**", action: "allow" }] }),
}

/** The first cell of a word in the last line that is exactly `line`. */
function cellOf({ terminal }: Xterm, line: string, word: string) {
  const buffer = terminal.buffer.active
  for (let y = buffer.length - 1; y >= 0; y--)
    if (buffer.getLine(y)?.translateToString(true).trim() === line)
      return buffer.getLine(y)!.getCell(2 + line.indexOf(word))!
  return assert.fail(`no line ${line}`)
}

test("the terminal shows the colours of a command of the model and of a person, and no other sequence", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command }), text("Done.")])
  const variables = { ...env(llm, "chat").variables, ...allowed }
  await using terminal = await openXterm(tmp, [], { env: variables })
  await terminal.sees(isReady)
  terminal.type(`run it${enter}`)
  await terminal.sees("Done.")
  await terminal.sees(isReady)
  terminal.type(`!${command.replaceAll("and", "or")}${enter}`)
  await terminal.sees("red or deep shy")
  await terminal.sees(isReady)
  for (const line of ["red and deep shy", "red or deep shy"]) {
    const red = cellOf(terminal, line, "red")
    assert.ok(red.isBold() && red.isFgPalette())
    assert.equal(red.getFgColor(), 1)
    const deep = cellOf(terminal, line, "deep")
    assert.ok(deep.isFgRGB())
    assert.equal(deep.getFgColor(), 0x0a141e)
    const shy = cellOf(terminal, line, "shy")
    assert.ok(!shy.isInvisible() && shy.isDim() && shy.isFgDefault())
  }
  await using again = await openXterm(tmp, ["-c"], { env: variables })
  await again.sees("red or deep shy")
  assert.equal(cellOf(again, "red and deep shy", "red").getFgColor(), 1)
  // What the model got.
  const { messages } = llm.requests[1]!.body as { messages: { role: string; content: unknown }[] }
  assert.equal(messages.find(({ role }) => role === "tool")?.content, "red and deep shy\n")
})

test("the terminal shows colours as far as it has them", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  const shown = async (variables: Record<string, string>) => {
    await using terminal = await openXterm(tmp, [], { env: { ...env(llm, "chat").variables, ...variables } })
    await terminal.sees(isReady)
    terminal.type(`!${command}${enter}`)
    await terminal.sees(/^ {2}red and deep shy/m)
    await terminal.sees(isReady)
    const [red, deep] = ["red", "deep"].map((word) => cellOf(terminal, "red and deep shy", word))
    return [red!.isFgDefault(), deep!.isFgDefault()]
  }
  assert.deepEqual(await shown({ TERM: "xterm", COLORTERM: "" }), [false, true])
  assert.deepEqual(await shown({ NO_COLOR: "1" }), [true, true])
})

test("vitamin run --format json has the text of a command without escape sequences, in events and in an export", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command }), text("Done.")])
  const { variables, model } = env(llm, "chat")
  const args = ["run", "--format", "json", "--model", model, "--allow", "*:**", "run it"]
  const ran = await vitamin(tmp, args, variables)
  assert.equal(ran.code, 0, ran.err)
  const events = ran.out.split("\n").map((line) => JSON.parse(line))
  const { message } = events.find((one) => one.payload?.message?.type === "tool_result").payload
  assert.equal(message.data.output, "red and deep shy\n")
  assert.deepEqual(message.data.colors, [
    [0, "1;31"],
    [3, ""],
    [8, "38;2;10;20;30"],
    [12, ""],
  ])
  for (const format of ["json", "markdown"]) {
    const exported = await vitamin(
      tmp,
      ["session", "export", message.sessionId, "--format", format],
      variables,
    )
    assert.match(exported.out, /red and deep shy/)
    assert.doesNotMatch(exported.out, /\u001b|\\u001b/, format)
  }
})
