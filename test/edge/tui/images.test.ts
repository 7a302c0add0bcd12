// Images of messages: the image itself in terminals that can show it, else a line about it. xterm, the judge here, ignores
// the sequences of both protocols, so that the rows that belong to the image are seen as blank.
import assert from "node:assert/strict"
import { test } from "node:test"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { image, type Name } from "../../fixture/images.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const models = { "fake-model": { input: ["text", "image"] } }
const seeing = { VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }) }
const query = "\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\"

async function opened(
  variables: Record<string, string>,
  { name = "note.png", args = ["--image", name, "look"] }: { name?: Name; args?: string[] } = {},
) {
  const tmp = await tmpdir({ git: true })
  tmp.write(name, image(name))
  const llm = await fakeLlm([text("Fine.")])
  const terminal = await openXterm(tmp, args, {
    env: { ...env(llm, "chat").variables, ...seeing, ...variables },
  })
  return {
    tmp,
    terminal,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

/** The keys of the first chunk, and the image. */
function kittyImage(terminal: Xterm): [keys: string | undefined, data: string] {
  const chunks = [
    ...terminal
      .bytes()
      .replaceAll(query, "")
      .matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g),
  ]
  return [chunks[0]?.[1], chunks.map(([, , data]) => data).join("")]
}

test("kitty shows a PNG in as many rows as it takes, below a line about it", async () => {
  await using chat = await opened({ KITTY_WINDOW_ID: "1" })
  const { terminal } = chat
  await terminal.sees(/▌ look\n\n· \[image note\.png 460×150 PNG, 7 KB\]\n{10}Fine\.\n/)
  const [keys, data] = kittyImage(terminal)
  assert.equal(keys, "a=T,f=100,q=2,C=1,c=46,r=8,m=1")
  assert.equal(data, image("note.png").toString("base64"))
  assert.ok(!terminal.bytes().includes(query))
})

test("iTerm2 and WezTerm show a JPEG; kitty, which takes PNG, gets a line that says so", async () => {
  const jpeg = image("note.jpg").toString("base64")
  const shown = `\u001b]1337;File=inline=1;width=46;height=8;preserveAspectRatio=1:${jpeg}\u0007`
  for (const TERM_PROGRAM of ["iTerm.app", "WezTerm", "ghostty"]) {
    await using chat = await opened({ TERM_PROGRAM }, { name: "note.jpg" })
    await chat.terminal.sees("Fine.")
    const why = TERM_PROGRAM === "ghostty" ? " (this terminal shows only PNG)" : ""
    assert.ok(chat.terminal.screen().includes(`· [image note.jpg 460×150 JPEG, 17 KB]${why}\n`))
    assert.equal(chat.terminal.bytes().includes(shown), TERM_PROGRAM !== "ghostty", TERM_PROGRAM)
    assert.deepEqual(kittyImage(chat.terminal), [undefined, ""])
  }
})

test("a terminal that answers that it has graphics gets images; one that does not answer gets the line", async () => {
  for (const answer of ["\u001b_Gi=31;OK\u001b\\", ""]) {
    await using chat = await opened({}, { args: [] })
    const { tmp, terminal } = chat
    await terminal.sees(/^ask · /m)
    assert.ok(terminal.bytes().includes(query))
    terminal.type(`${answer}\u001b[200~${tmp.path}/note.png\u001b[201~`)
    await terminal.sees("[image note.png]")
    terminal.type("\r")
    await terminal.sees("Fine.")
    await terminal.sees("· [image note.png 460×150 PNG, 7 KB]")
    await terminal.sees(/^ask · /m)
    await until(() => answer === "" || kittyImage(terminal)[0] !== undefined, "the image")
    assert.equal(kittyImage(terminal)[0] !== undefined, answer !== "")
  }
})

test("inside tmux nothing is asked, and the line stands for the image", async () => {
  await using chat = await opened({ KITTY_WINDOW_ID: "1", TMUX: "/nowhere,1,0", TERM: "tmux-256color" })
  await chat.terminal.sees(/· \[image note\.png 460×150 PNG, 7 KB\]\n\nFine\./)
  assert.doesNotMatch(chat.terminal.bytes(), /\u001b_G|1337/)
})

test("the image of a tool is shown too, and one that is wider than the terminal is made smaller", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  tmp.write("page.png", image("page.png"))
  await vitamin(tmp, ["trust", "--yes"])
  const script: Reply[] = [call("everything_get-tiny-image", {}), text("Tiny.")]
  await using llm = await fakeLlm(script)
  await using terminal = await openXterm(
    tmp,
    ["--allow", "mcp.call:everything/*", "--image", "page.png", "show"],
    { env: { ...env(llm, "chat").variables, ...seeing, KITTY_WINDOW_ID: "1" }, columns: 30 },
  )
  await terminal.sees("Tiny.")
  await until(() => terminal.bytes().split("\u001b_Ga=T").length === 3, "two images")
  const sizes = [...terminal.bytes().matchAll(/C=1,c=(\d+),r=(\d+)/g)].map(([, c, r]) => [
    Number(c),
    Number(r),
  ])
  assert.ok(
    sizes.every(([columns, rows]) => columns! <= 29 && rows! <= 12),
    JSON.stringify(sizes),
  )
  assert.match(terminal.screen(), /· \[image \d+×\d+ PNG, \d+ KB\]/)
})
