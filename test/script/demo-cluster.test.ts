// `npm run demo`: a worker is killed in the middle of a turn, and the page of another one shows the turn finish.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { chromium } from "playwright-core"
import { run } from "../fixture/child.ts"
import { noPostgres } from "../fixture/postgres.ts"
import { until } from "../fixture/until.ts"

const script = join(import.meta.dirname, "../../script/demo-cluster.ts")

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test("the demonstration kills a worker, and the page of another one shows the turn finish", {
  skip: noPostgres,
}, async () => {
  await using child = run(process.execPath, [script, "--keep"])
  // It ends its workers only if it is asked to end.
  await using _ = {
    async [Symbol.asyncDispose]() {
      child.process.kill("SIGTERM")
      await child.exit
    },
  }
  const signIn = (await child.line(/#code=/)).trim()
  const session = /http:\S+/.exec(await child.line(/then http:/))![0]
  await using browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
  const page = await browser.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(signIn)
  await page.getByText("Connected").waitFor()
  await page.goto(session)
  await page.locator(".message.user", { hasText: "Run the migration" }).waitFor()
  await page.getByText("touch started").first().waitFor()
  assert.equal(await page.locator(".message.assistant", { hasText: "was interrupted" }).count(), 0)
  child.process.stdin!.write("\n")
  await page.locator(".message.assistant", { hasText: "Shall I look at the tables?" }).waitFor()
  await child.line(/page stays/)

  const out = child.lines.join("\n")
  const [, victim] = /(worker \d) works on it/.exec(out)!
  const survivors = ["worker 1", "worker 2", "worker 3"].filter((name) => name !== victim)
  assert.match(out, new RegExp(`killed ${victim} \\(kill -9 \\d+\\) in the middle of the turn`))
  assert.match(out, new RegExp(`the page of (${survivors.join("|")});`))
  assert.match(
    out,
    new RegExp(`(${survivors.join("|")}) noticed that it is dead, and goes on with the turn after`),
  )
  assert.match(out, /user: Run.*\n +call: bash\n +result: interrupted\n(.*\n)* +assistant: The migration was/)

  const pids = [...out.matchAll(/\(process (\d+)\)/g)].map((match) => Number(match[1]))
  const folder = dirname(decodeURIComponent(/folder=(\S+)/.exec(signIn)![1]!))
  assert.equal(pids.length, 3)
  assert.equal(pids.filter(isRunning).length, 2)
  assert.ok(existsSync(folder))
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 0)
  await until(() => !pids.some(isRunning), "the end of the workers")
  assert.ok(!existsSync(folder), folder)
})
