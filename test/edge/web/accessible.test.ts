// The page for everybody: axe-core on every view in light and dark, the keyboard alone, narrow screens and zoom.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { test } from "node:test"
import type { Page } from "playwright-core"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openFullSession, panels } from "./full-session.ts"
import { type Opened, openPage } from "./harness.ts"
import { pressTab } from "./press-tab.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const parts = "mcp tools skills extensions agents models permissions trust settings stats".split(" ")

/** A page whose views have something to show: an answer, a question, a grant, a server, a skill, a file to review. */
async function openFull(): Promise<Opened> {
  const t = await openPage(
    [call("bash", { command: "touch made" }), text("It is **done**."), call("bash", { command: "touch b" })],
    {
      args: ["--trust"],
      prepare(tmp) {
        tmp.write(
          ".mcp.json",
          mcpJson({ notes: tinyServer({ tools: [{ name: "count", description: "Counts" }] }) }),
        )
        tmp.write(
          ".vitamin/skills/greet/SKILL.md",
          "---\nname: greet\ndescription: Greets people\n---\nHello",
        )
      },
    },
  )
  const { id } = await t.client.createSession({ title: "Done" })
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  const asked = async () => (await t.client.listPermissions())[0]
  await until(asked, "it asks")
  await t.client.replyPermission({ id: (await asked())!.id, reply: "always" })
  await until(async () => (await t.client.getSession({ id })).status === "idle", "the prompt ends")
  const asks = await t.client.createSession({ title: `Asks ${"long ".repeat(60)}` })
  await t.client.promptSession({ id: asks.id, text: "go", prefer: "respond-async" })
  await until(asked, "it asks again")
  t.tmp.write(".vitamin/config.jsonc", '{ "model": "openai/fake-model" }')
  return t
}

const views = (t: Opened) => [
  "",
  "stats",
  "events",
  "server",
  ...["", ...parts].map((part) => `folder/${encodeURIComponent(t.tmp.path)}/${part}`),
]

async function show(page: Page, url: string, view: string): Promise<void> {
  const address = `${url}/#/${view}`
  const [before, title] = [page.url(), await page.title()]
  await page.goto(address)
  // Only what comes after the hash changes: the last view is there until the page has heard of it.
  if (before !== address) await until(async () => (await page.title()) !== title, `${view} is shown`)
  await page.locator("main :is(h1 + :not(.parts), .parts + *)").first().waitFor()
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0, `${view} is loaded`)
}

/** Opens another browser window whose policy lets axe run; returns what axe finds on the page that is open. */
async function openWithAxe(t: Opened) {
  const context = await t.browser.newContext({ bypassCSP: true })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${t.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  const found: string[] = []
  const check = async (name: string) => {
    await page.evaluate(axe)
    const result = (await page.evaluate("axe.run()")) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    for (const { id, nodes } of result.violations)
      found.push(`${name}: ${id}: ${nodes[0]!.html.slice(0, 200)} ${nodes[0]!.failureSummary.slice(0, 200)}`)
  }
  return { page, found, check }
}

test("axe-core finds nothing on any view, in light and dark, nor on a dialog", async () => {
  await using t = await openFull()
  const { page, found, check } = await openWithAxe(t)
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme })
    for (const view of views(t)) {
      await show(page, t.url, view)
      await check(`${colorScheme} ${view}`)
    }
    await show(page, t.url, "")
    await page.getByRole("button", { name: "More for Done" }).click()
    await page.getByRole("dialog").waitFor()
    await check(`${colorScheme} dialog`)
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor()
    await check(`${colorScheme} shortcuts`)
    await page.keyboard.press("Escape")
  }
  assert.deepEqual(found, [])
})

/** The session with everything in it unfolded. */
async function showSession(page: Page, t: { url: string; id: string }, panel: string): Promise<void> {
  await page.goto(`${t.url}/#/session/${t.id}${panel && `/${panel}`}`)
  if (panel)
    await page
      .locator(".panel :is(table, svg, ul, ol, .diff, .window-bar, .graph, [role=tree], img)")
      .first()
      .waitFor({ state: "attached" })
  else await page.locator(".question").waitFor()
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("main details")) (fold as HTMLDetailsElement).open = true
  })
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0, `${panel} is loaded`)
}

test("axe-core finds nothing on a session with every kind of content, its question, dialogs and panels", async () => {
  await using t = await openFullSession()
  const { page, found, check } = await openWithAxe(t)
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme })
    for (const panel of ["", ...panels]) {
      await showSession(page, t, panel)
      await check(`${colorScheme} session ${panel}`)
    }
    await showSession(page, t, "")
    await page.getByRole("button", { name: "Side by side" }).first().click()
    await check(`${colorScheme} side by side`)
    await page.getByRole("button", { name: "Unified" }).first().click()
    await page.locator(".message.user").first().hover()
    await page.getByRole("button", { name: "Undo…" }).first().click()
    await page.getByRole("dialog").waitFor()
    await check(`${colorScheme} undo`)
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.getByLabel("Prompt").fill("@a")
    await page.getByRole("listbox").waitFor()
    await check(`${colorScheme} completion`)
    await page.getByLabel("Prompt").fill("")
  }
  assert.deepEqual(found, [])
})

test("a session with every kind of content, and each panel, fits 360 pixels, and moves nothing with reduced motion", async () => {
  await using t = await openFullSession()
  await t.page.setViewportSize({ width: 360, height: 640 })
  await t.page.emulateMedia({ reducedMotion: "reduce" })
  const wide: string[] = []
  for (const panel of ["", ...panels]) {
    await showSession(t.page, t, panel)
    const found = await t.page.evaluate(() =>
      [
        ...document.querySelectorAll(
          "html, body, #main, .session, .talk, .conversation, .panel, .question, .composer",
        ),
      ]
        .filter((part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth)
        .map((part) => `${part.className || part.tagName} ${part.scrollWidth}`),
    )
    wide.push(...found.map((one) => `${panel}: ${one}`))
    const moving = await t.page.evaluate(
      () =>
        [...document.querySelectorAll("*")]
          .map((one) => getComputedStyle(one))
          .filter(
            ({ animationName, transitionDuration, scrollBehavior }) =>
              animationName !== "none" ||
              Number.parseFloat(transitionDuration) > 0 ||
              scrollBehavior === "smooth",
          ).length,
    )
    assert.equal(moving, 0, panel)
  }
  assert.deepEqual(wide, [])
})

test("no view scrolls sideways at 360 pixels, nor at 200 % zoom, and each has a title of its own", async () => {
  await using t = await openFull()
  const wide: string[] = []
  const titles = new Set<string>()
  for (const width of [360, 640]) {
    await t.page.setViewportSize({ width, height: 360 })
    for (const view of views(t)) {
      await show(t.page, t.url, view)
      const isWide = await t.page.evaluate(() =>
        [document.documentElement, document.getElementById("main")!].some(
          (part) => part.scrollWidth > part.clientWidth,
        ),
      )
      if (isWide) wide.push(`${width} ${view}`)
      titles.add(await t.page.title())
    }
  }
  assert.deepEqual(wide, [])
  assert.equal(titles.size, views(t).length)
})

test("the Tab key alone reaches a session, its menu and a view of its folder, with a visible focus", async () => {
  await using t = await openPage([])
  await t.client.createSession({ title: "By keyboard" })
  await t.page.getByText("By keyboard").waitFor()
  const tabTo = (name: RegExp) => pressTab(t.page, name)
  await t.page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await tabTo(/^Skip to the content$/)
  await t.page.keyboard.press("Enter")
  await tabTo(/^More for By keyboard$/)
  await t.page.keyboard.press("Enter")
  await t.page.getByRole("dialog").waitFor()
  await tabTo(/^Fork$/)
  await t.page.keyboard.press("Escape")
  const isBack = () =>
    t.page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "More for By keyboard")
  await until(isBack, "the focus is back on the button")
  await tabTo(/^Tools$/)
  await t.page.keyboard.press("Enter")
  await t.page.getByLabel("Search tools").waitFor()
  await tabTo(/^bash/)
  await t.page.keyboard.press("Enter")
  await t.page.getByRole("dialog", { name: "bash" }).waitFor()
  await t.page.keyboard.press("Escape")
  await t.page.getByRole("dialog").waitFor({ state: "detached" })
  await tabTo(/^Sessions$/)
  await t.page.keyboard.press("Enter")
  await tabTo(/^By keyboard/)
  await t.page.keyboard.press("Enter")
  await t.page.getByLabel("Prompt").waitFor()
})
