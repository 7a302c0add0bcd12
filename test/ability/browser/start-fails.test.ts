// Browsers that fail, or are no longer wanted, while they start: each is closed.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { type BrowserContext, chromium } from "playwright-core"
import { createBrowserSession } from "#ability/browser/browser-session.ts"
import { openPage } from "#ability/browser/browsers.ts"
import { findBrowser } from "#ability/browser/find-browser.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { hasProcess } from "#util/process.ts"
import { shortTmp } from "../../fixture/short-tmp.ts"
import { until } from "../../fixture/until.ts"
import { call, free, inProject } from "../tool/harness.ts"

/** Starts Chromium through a script that notes the process, and waits for the file `go` if `waits`. */
function started(t: TestContext, folder: string, { waits = false } = {}) {
  const found = findBrowser()
  assert.ok(!Array.isArray(found))
  const [program, note, go] = ["chromium.sh", "pid", "go"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const wait = waits ? `while [ ! -e '${go}' ]; do sleep 0.05; done\n` : ""
  const script = `#!/bin/sh\necho $$ > '${note}'\n${wait}exec '${found.chromium}' "$@"\n`
  writeFileSync(program, script, { mode: 0o700 })
  setVariable(t, "VITAMIN_BROWSER", program)
  const pid = () => (existsSync(note) ? Number(readFileSync(note, "utf8")) : 0)
  return { pid, go: () => writeFileSync(go, "") }
}

/** Lets `change` replace methods of the next page's context. */
function changed(t: TestContext, change: (context: BrowserContext) => void): void {
  const launch = chromium.launchPersistentContext.bind(chromium)
  t.mock.method(chromium, "launchPersistentContext", async (...args: Parameters<typeof launch>) => {
    const first = await launch(...args)
    const browser = first.browser()!
    const create = browser.newContext.bind(browser)
    t.mock.method(browser, "newContext", async (...args: Parameters<typeof create>) => {
      const context = await create(...args)
      change(context)
      return context
    })
    return first
  })
}

function open(session: ReturnType<typeof createBrowserSession>): Promise<void> {
  const { signal } = new AbortController()
  const context = { sessionId: "ses_1", messageId: "m", callId: "c", signal }
  return session.use({ context, first: "http://127.0.0.1/", starts: true }, async () => {})
}

function foldersIn(place: string): string[] {
  return readdirSync(place).filter((name) => name.startsWith(`vitamin-browser-${process.pid}-`))
}

async function isGone(pid: number): Promise<void> {
  assert.ok(pid > 0)
  await until(() => !hasProcess(pid), "the browser ends")
  await until(() => [tmpdir(), "/tmp"].flatMap(foldersIn).length === 0, "its folder is removed")
}

test("an abort while the browser starts returns before it has started, and the browser is closed", async (t) => {
  await inProject(async ({ path }) => {
    await loadToolGroups()
    const browser = started(t, path, { waits: true })
    const abort = new AbortController()
    const result = call("browser_open", { url: "http://127.0.0.1:9/" }, { signal: abort.signal, slots: free })
    await until(() => browser.pid() > 0, "the browser is being started")
    abort.abort()
    const { status, text } = await result
    assert.equal(status, "interrupted", text)
    assert.ok(hasProcess(browser.pid()))
    browser.go()
    await isGone(browser.pid())
  })
})

test("a browser whose page cannot be controlled is closed", async (t) => {
  await inProject(async ({ path }) => {
    const browser = started(t, path)
    changed(t, (context) => {
      context.newCDPSession = async () => assert.fail("no session")
    })
    await assert.rejects(open(createBrowserSession("ses_1", { open: openPage })), /no session/)
    await isGone(browser.pid())
  })
})

test("a browser whose requests cannot be guarded is closed", async (t) => {
  await inProject(async ({ path }) => {
    const browser = started(t, path)
    changed(t, (context) => {
      context.route = async () => assert.fail("no route")
    })
    await assert.rejects(open(createBrowserSession("ses_1", { open: openPage })), /no route/)
    await isGone(browser.pid())
  })
})

test("a browser is closed if its session ends while its guard is installed", async (t) => {
  await inProject(async ({ path }) => {
    const browser = started(t, path)
    const session = createBrowserSession("ses_1", { open: openPage })
    changed(t, (context) => {
      const route = context.route.bind(context)
      context.route = (...args) => {
        void session.close()
        return route(...args)
      }
    })
    await assert.rejects(open(session), /The session ended\./)
    await isGone(browser.pid())
  })
})

test("the folder of a browser is removed if its proxy cannot start", async (t) => {
  await inProject(async () => {
    useTemporary(t)
    t.mock.method(Server.prototype, "listen", function (this: Server) {
      process.nextTick(() => this.emit("error", new Error("no port left")))
      return this
    })
    await assert.rejects(open(createBrowserSession("ses_1", { open: openPage })), /no port left/)
    assert.deepEqual(temporary(), [])
  })
})

test("a browser removes what a killed vitamin has left, and leaves nothing itself", async (t) => {
  await inProject(async () => {
    useTemporary(t)
    const killed = spawn(process.execPath, [join(import.meta.dirname, "hold-browser.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const ended = once(killed, "exit").then(() => assert.fail("the program ended before it was killed"))
    const [said] = await Promise.race([once(killed.stdout, "data"), ended])
    ended.catch(() => {})
    const pid = Number(said)
    killed.kill("SIGKILL")
    await until(() => !hasProcess(pid), "the browser ends with its program")
    assert.deepEqual(
      temporary().map((name) => name.replace(/\w+$/, "")),
      [`vitamin-browser-${killed.pid}-`],
    )
    const session = createBrowserSession("ses_1", { open: openPage })
    await open(session)
    await session.close()
    assert.deepEqual(temporary(), [])
  })
})

test("a browser starts where the path of the temporary folder is too long for its sockets", async (t) => {
  await inProject(async ({ path }) => {
    const long = setVariable(t, "TMPDIR", join(path, "x".repeat(90)))
    mkdirSync(long)
    const session = createBrowserSession("ses_1", { open: openPage })
    await open(session)
    assert.equal(foldersIn("/tmp").length, 1)
    await session.close()
    assert.deepEqual([...foldersIn("/tmp"), ...readdirSync(long)], [])
  })
})

test("the error of a browser that ends at its start has its last words, and not its command line", async (t) => {
  await inProject(async ({ path }) => {
    const program = join(path, "chromium.sh")
    writeFileSync(program, "#!/bin/sh\necho '[1:FATAL:main.cc] no paper left' >&2\nexit 1\n", { mode: 0o700 })
    setVariable(t, "VITAMIN_BROWSER", program)
    await assert.rejects(open(createBrowserSession("ses_1", { open: openPage })), ({ message }: Error) => {
      assert.match(message, /could not be started: .* no paper left$/)
      assert.doesNotMatch(message, /--disable|sandbox/)
      return true
    })
  })
})

/** Other tests use the folder of the system. */
function useTemporary(t: TestContext): string {
  const tmp = shortTmp()
  t.after(() => tmp[Symbol.dispose]())
  return setVariable(t, "TMPDIR", tmp.path)
}

function setVariable(t: TestContext, name: string, value: string): string {
  const before = process.env[name]
  process.env[name] = value
  t.after(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
  return value
}

/** What vitamin or Playwright has made in the folder for temporary files. */
function temporary(): string[] {
  return readdirSync(tmpdir()).filter((name) => /^(vitamin-browser|playwright)/.test(name))
}
