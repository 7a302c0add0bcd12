// The agent navigator through the installed command, in a real Chromium, on a site of several pages.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { tmpdir as systemTmp } from "node:os"
import { test } from "node:test"
import { site } from "../../../ability/web/pages.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Request, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const field = (label: string, name: string) => `<label>${label} <input name="${name}" required></label>`
const shop = {
  "/": `<title>Garden shop</title><h1>Garden shop</h1><a href="/about">About</a> <a href="/order">Order seeds</a>`,
  "/order": `<title>Order</title><form action="/address"><select name=seed aria-label=Seed><option>Rose<option>Thyme</select>
${field("Amount", "amount")}<button>Next</button></form>`,
  "/address": `<title>Address</title><form action="/done" method=post>${field("Name", "name")}${field("Street", "street")}
<input type=checkbox name=terms id=terms><label for=terms>I accept the terms</label><button>Order now</button></form>`,
}

/** The reference of an element in the newest result. */
function refIn({ body }: Request, named: string): string {
  const said = [...JSON.stringify(body).matchAll(/\[(e\d+) ((?:[^\]\\]|\\.)+)\]/g)]
  const found = said.findLast(([, , about]) => about!.includes(named))
  assert.ok(found, named)
  return found[1]!
}

test("vitamin run --agent navigator fills in a form over several pages, and leaves no browser", async () => {
  const posted: string[] = []
  await using web = await site({
    ...shop,
    "/done": async (response, request) => {
      posted.push(Buffer.concat(await request.toArray()).toString())
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Order 4711 is placed</h1>")
    },
  })
  const click = (named: string) => (request: Request) => call("browser_click", { ref: refIn(request, named) })
  const type = (named: string, words: string) => (request: Request) =>
    call("browser_type", { ref: refIn(request, named), text: words })
  await using llm = await fakeLlm([
    call("browser_open", { url: `${web.origin}/` }),
    click("Order seeds"),
    type("Seed", "Thyme"),
    type("Amount", "3"),
    click("Next"),
    type("Name", "Ada Lovelace"),
    type("Street", "12 Analytical Way"),
    click("I accept the terms"),
    call("browser_screenshot", {}),
    click("Order now"),
    text("Order 4711 is placed."),
  ])
  await using tmp = await tmpdir({ git: true })
  const allow = `network.fetch:${web.origin}/*`
  const args = ["run", "--agent", "navigator", "--allow", allow, "order three bags of thyme"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.equal(out, "Order 4711 is placed.")
  assert.deepEqual(posted, ["name=Ada+Lovelace&street=12+Analytical+Way&terms=on"])
  assert.ok(web.asked.some(({ url }) => url === "/address?seed=Thyme&amount=3"))
  assert.match(JSON.stringify(llm.requests.at(-1)!.body), /Order 4711 is placed/)
})

test("without permission navigator opens nothing, and the session says so", async () => {
  await using web = await site(shop)
  await using llm = await fakeLlm([call("browser_open", { url: web.origin }), text("I may not.")])
  await using tmp = await tmpdir({ git: true })
  const { code, err } = await vitamin(
    tmp,
    ["run", "--agent", "navigator", "look"],
    env(llm, "chat").variables,
  )
  assert.equal(code, 3, err)
  assert.equal(web.asked.length, 0)
})

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(`no process of the browser is left when vitamin ends by ${signal}`, async () => {
    await using web = await site(shop)
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([
      call("browser_open", { url: `${web.origin}/` }),
      call("browser_wait", { seconds: 30 }),
    ])
    const args = ["run", "--agent", "navigator", "--allow", `network.fetch:${web.origin}/*`, "look"]
    await using child = startVitamin(tmp, args, env(llm, "chat").variables)
    await until(() => llm.requests.length === 2, "the page is open")
    const { pid } = child.process
    const started = descendants(pid!)
    assert.ok(started.length > 1, "the browser runs")
    child.process.kill(signal)
    await child.exit
    await until(() => started.every((one) => nameOf(one) === undefined), "the browser ends")
    if (signal === "SIGTERM")
      assert.ok(!readdirSync(systemTmp()).some((name) => name.startsWith(`vitamin-browser-${pid}-`)))
  })

test("vitamin doctor names the browser, or says how to get one", async () => {
  await using tmp = await tmpdir()
  assert.match(
    (await vitamin(tmp, ["doctor"])).out,
    /^ok +browser +\S*chrom\S*, for the agent navigator and stories$/m,
  )
  const { out } = await vitamin(tmp, ["doctor"], { VITAMIN_BROWSER: "/nowhere/chromium" })
  assert.match(
    out.replace(/\s+/g, " "),
    /note browser .*VITAMIN_BROWSER is "\/nowhere\/chromium", and no program is there/,
  )
})

function descendants(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }))
  const found = [pid]
  for (const one of found) found.push(...parents.filter(({ parent }) => parent === one).map(({ pid }) => pid))
  return found.slice(1)
}

function parentOf(pid: number): number | undefined {
  return Number(statOf(pid)?.split(" ")[1])
}

/** Undefined if there is no such process, or only its entry is left. */
function nameOf(pid: number): string | undefined {
  const stat = statOf(pid)
  return stat === undefined || stat.startsWith("Z") ? undefined : stat
}

/** What follows the name in /proc/PID/stat: state, parent. */
function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")
  } catch {
    return undefined
  }
}
