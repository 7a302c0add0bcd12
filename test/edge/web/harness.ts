// The page as a person uses it: a real `vitamin serve` with a scripted model, and Debian's Chromium, signed in by a code.
import { readFileSync } from "node:fs"
import { type Browser, chromium, type Page } from "playwright-core"
import { createClient, createHttpTransport } from "#client/client.ts"
import { startVitamin } from "../../fixture/cli.ts"
import { env, type FakeLlm, fakeLlm, type Script } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const program = process.env.VITAMIN_CHROMIUM ?? "/usr/bin/chromium"
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-sync",
]

/** Milliseconds: as long as `until` waits on a busy machine. */
const patience = 60_000

export type Opened = AsyncDisposable & {
  tmp: Tmp
  llm: FakeLlm
  url: string
  token: string
  browser: Browser
  page: Page
  /** What the page must never do: errors of its own, and what the Content-Security-Policy refused. */
  faults: string[]
  client: ReturnType<typeof createClient>
  /** Another tab of the same browser. */
  openTab(path?: string): Promise<Page>
  /** Kills the server, and starts it again at the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>
}

/** A signed-in page on a server whose model answers as scripted. */
export async function openPage(
  script: Script,
  options: {
    args?: string[]
    config?: object
    variables?: Record<string, string>
    prepare?(tmp: Tmp): unknown
  } = {},
): Promise<Opened> {
  // If something cannot start, what has started ends.
  await using stack = new AsyncDisposableStack()
  const tmp = stack.use(await tmpdir({ git: true }))
  await options.prepare?.(tmp)
  const llm = stack.use(await fakeLlm(script))
  const variables = {
    ...env(llm, "chat").variables,
    ...options.variables,
    ...(options.config ? { VITAMIN_CONFIG: JSON.stringify(options.config) } : {}),
  }
  const serve = async (port: string) => {
    const child = startVitamin(tmp, ["serve", "--port", port, ...(options.args ?? [])], variables)
    const [, url, tokenFile] = /on (http:\S+) \(token in (.+)\)$/.exec(await child.line(/listening/))!
    return { child, url: url!, tokenFile: tokenFile! }
  }
  let server = await serve("0")
  stack.defer(() => server.child[Symbol.asyncDispose]())
  const token = readFileSync(server.tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url: server.url, token, directory: tmp.path }))
  const browser = await chromium.launch({ executablePath: program, args: flags, timeout: patience })
  stack.defer(() => browser.close())
  const context = await browser.newContext()
  context.setDefaultTimeout(patience)
  await context.addInitScript(
    `document.addEventListener("securitypolicyviolation", (event) =>
      console.error("Content Security Policy: " + event.effectiveDirective + " " + event.blockedURI))`,
  )
  const faults: string[] = []
  const openTab = async (path = "") => {
    const page = await context.newPage()
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedHTML|Trusted Type/i.test(message.text()))
        faults.push(message.text())
    })
    await page.goto(`${server.url}/${path}`)
    return page
  }
  const { code } = await client.createBrowserCode()
  const page = await openTab(`#code=${code}&folder=${encodeURIComponent(tmp.path)}`)
  await page.getByText("Connected").waitFor()
  const started = stack.move()
  return {
    tmp,
    llm,
    url: server.url,
    token,
    browser,
    page,
    faults,
    client,
    openTab,
    async restart(signal = "SIGKILL") {
      const { port } = new URL(server.url)
      server.child.process.kill(signal)
      await server.child.exit
      server = await serve(port)
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
