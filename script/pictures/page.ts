// Pictures of the page, for docs/web.md: a real server with a scripted model, seen by Chromium. WebP keeps them small.
import { writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Page } from "playwright-core"
import { mcpJson, tinyServer } from "../../test/ability/mcp/servers.ts"
import { openPage } from "../../test/edge/web/harness.ts"
import { call, calls, text } from "../../test/fixture/fake-llm.ts"
import { until } from "../../test/fixture/until.ts"

const config = 'export const port = Number(process.env.PORT ?? 3000)\nexport const host = "127.0.0.1"\n'
const edit = call("edit", {
  path: "src/config.ts",
  edits: [{ oldText: 'host = "127.0.0.1"', newText: 'host = process.env.HOST ?? "127.0.0.1"' }],
})
const tools = [
  { name: "search_notes", description: "Search the notes of the team" },
  { name: "add_note", description: "Write a note" },
]
const parts = "mcp tools skills extensions agents models permissions trust settings".split(" ")
const panels = "changes plan branches context cost guards".split(" ")
const hooks = {
  PostToolUse: [{ matcher: "Edit|Write", hooks: [{ type: "command", command: "git diff --check" }] }],
}
const todos = [
  { id: "find", text: "Find what reads the host", status: "done", after: [] },
  { id: "set", text: "Make the host a setting", status: "in_progress", after: ["find"] },
  { id: "docs", text: "Describe it", status: "pending", after: ["set"] },
  { id: "test", text: "Run the tests", status: "pending", after: ["set"] },
]
const stories = `const Greeting = ({ name }) => "<h1>Hello " + name + "</h1><p>Welcome back.</p>"
const parameters = { timeout: 30_000 }
export const known = { intent: "Greets a person by name", component: Greeting, args: { name: "Ada" }, parameters, play: ({ findByText }) => findByText("Hello Ada") }
`
const interfaceAgent = "---\ndescription: Builds components\ntools: [read, world_run]\n---\nYou build.\n"

/** `folder`: where the pictures are written. */
export async function picturesOfPage(folder: string): Promise<void> {
  const script = [
    calls([
      call("read", { path: "src/config.ts" }),
      call("todo", { todos, title: "Make the host configurable", replace: true }),
      edit,
      call("bash", { command: "git push origin main" }),
    ]),
    text("The host is now a setting too: `HOST`, **127.0.0.1** without it."),
    call("world_run", {}),
    text("The story holds."),
    call("bash", { command: "npm test" }),
  ]
  await using t = await openPage(script, {
    args: ["--trust"],
    // Language servers of this machine are not shown.
    variables: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
    config: {
      lsp: { servers: { docs: { command: ["docs-server", "--stdio"], extensions: { ".md": "markdown" } } } },
      guards: { "no-push": { block: "bash:git push*", because: "People push, agents do not" } },
    },
    prepare(tmp) {
      tmp.write(".vitamin/agents/interface.md", interfaceAgent)
      tmp.write("greeting.stories.ts", stories)
      tmp.write("src/config.ts", config)
      tmp.write(".vitamin/hooks.json", JSON.stringify({ hooks }))
      tmp.write(".mcp.json", mcpJson({ notes: tinyServer({ tools, prompts: { weekly: "x" } }) }))
      tmp.write(
        ".vitamin/skills/release/SKILL.md",
        "---\nname: release\ndescription: Writes the notes of a release\n---\nx",
      )
    },
  })
  const { page, client } = t
  await page.setViewportSize({ width: 900, height: 560 })
  const asked = async () => (await client.listPermissions())[0]
  const titles = ["Update the packages", "Why is the start slow?", "Make the host a setting", "Run the tests"]
  const ids: string[] = []
  for (const title of titles) ids.push((await client.createSession({ title })).id)
  await page.goto(`${t.url}/#/events`)
  await page.getByRole("heading", { name: "Events" }).waitFor()
  await client.promptSession({ id: ids[2]!, text: "Make the host a setting", prefer: "respond-async" })
  await until(asked, "it asks about the edit")
  await client.replyPermission({ id: (await asked())!.id, reply: "always" })
  await until(async () => (await client.getSession({ id: ids[2]! })).status === "idle", "the prompt ends")
  await picture(page, `${folder}/page-events.webp`)
  const [first] = await client.listMessages({ id: ids[2]! })
  await client.switchBranch({ id: ids[2]!, name: "without-a-setting", from: first!.id })
  await client.switchBranch({ id: ids[2]!, name: "main" })
  const { id: story } = await client.createSession({ title: "Check the greeting", agent: "interface" })
  await client.promptSession({ id: story, text: "Run the stories", asks: "once" })
  await client.promptSession({ id: ids[3]!, text: "Run the tests", prefer: "respond-async" })
  await until(asked, "it asks about the command")
  await client.connectMcpServer({ id: "notes" })
  t.tmp.write(".vitamin/config.jsonc", '{\n  "model": "openai/fake-model"\n}\n')
  const inFolder = parts.map((part) => [part, `folder/${encodeURIComponent(t.tmp.path)}/${part}`] as const)
  const views = [
    ["sessions", ""],
    ["session", `session/${ids[2]}`],
    ["question", `session/${ids[3]}`],
    ...panels.map((panel) => [panel, `session/${ids[2]}/${panel}`] as const),
    ["stories", `session/${story}/stories`],
    ["folder", `folder/${encodeURIComponent(t.tmp.path)}`],
    ["stats", "stats"],
    ["server", "server"],
    ...inFolder,
  ] as const
  for (const [name, place] of views) {
    await page.goto(`${t.url}/#/${place}`)
    await page.locator("main :is(h1, .message)").first().waitFor()
    await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0, `${name} is loaded`)
    // The picture of a story is read when it comes into view.
    if (name === "stories") await page.getByAltText("The page after the story").waitFor()
    await picture(page, `${folder}/page-${name}.webp`)
  }
  await page.setViewportSize({ width: 360, height: 640 })
  await page.goto(`${t.url}/#/session/${ids[3]}`)
  await page.getByRole("button", { name: "Allow once" }).waitFor()
  await picture(page, `${folder}/page-phone.webp`)
}

async function picture(page: Page, file: string): Promise<void> {
  await page.evaluate("new Promise((done) => setTimeout(done, 300))")
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 })
  writeFileSync(file, Buffer.from(data, "base64"))
  console.log(`${file.replace(/.*(?=docs)/, "")} is written`)
}
