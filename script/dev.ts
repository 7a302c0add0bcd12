// `npm run dev`: the page while somebody works on it. A small server in front of `vitamin serve` serves the files of the page
// as they were built last, rebuilds them when a source changes, and tells open pages to reload. Everything else is passed on,
// so that the page is the real one, with its own policy and sign-in.
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readFileSync, watch, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createClient, createHttpTransport } from "#client/client.ts"
import { createPageFiles } from "#edge/server/web/page-files.ts"
import { buildPage } from "./build-page.ts"

const source = "src/edge/web"
const folder = "node_modules/.cache/dev-page"
const reloadScript =
  'let last\nnew EventSource("/dev").onmessage = ({ data }) => {\n  if (last !== undefined && last !== data) location.reload()\n  last = data\n}\n'
const open = new Set<ServerResponse>()
let built = 0
let pages = await rebuild()

const { child, url, token } = await startVitamin()
const port = Number(process.argv[2] ?? 3142)
const front = createServer((incoming, response) => {
  const path = (incoming.url ?? "/").replace(/\?.*/s, "")
  if (path === "/dev") follow(response)
  else if (pages.has(path)) void page(incoming, response, path)
  else pass(incoming, response)
})
front.listen(port, "127.0.0.1", async () => {
  const { code } = await createClient(createHttpTransport({ url, token })).createBrowserCode()
  const own = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  console.log(`${own}/#code=${code}&folder=${encodeURIComponent(process.cwd())}`)
})
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    child.kill("SIGTERM")
    process.exit(0)
  })
watchSource()

async function rebuild() {
  await buildPage(folder, { minify: false })
  writeFileSync(`${folder}/dev.js`, reloadScript)
  const index = readFileSync(`${folder}/index.html`, "utf8")
  const script = '<script type="module" src="/assets/dev.js"></script>'
  writeFileSync(`${folder}/index.html`, index.replace("</head>", `${script}</head>`))
  built = Date.now()
  return createPageFiles(folder)
}

/** Several events of one save lead to one build; a change during a build to another one. */
function watchSource(): void {
  let timer: NodeJS.Timeout | undefined
  let building = Promise.resolve()
  watch(source, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      building = building.then(async () => {
        pages = await rebuild()
        for (const response of open) response.write(`data: ${built}\n\n`)
        console.log("built")
      }, console.error)
    }, 100)
  })
}

function follow(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
  response.write(`data: ${built}\n\n`)
  open.add(response)
  response.on("close", () => open.delete(response))
}

async function page(incoming: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  // The packed files do not have the script that reloads.
  const answer = pages.respond(path, (name) =>
    name === "accept-encoding" ? undefined : (incoming.headers[name] as string | undefined),
  )
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "cache-control": "no-store" })
  response.end(Buffer.from(await answer.arrayBuffer()))
}

/** The server checks Host and Origin, so both must name it. */
function pass(incoming: IncomingMessage, response: ServerResponse): void {
  const { host } = new URL(url)
  const headers = { ...incoming.headers, host, ...(incoming.headers.origin ? { origin: url } : {}) }
  const passed = request(`${url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  passed.on("error", () => response.destroy())
  response.on("close", () => passed.destroy())
  incoming.pipe(passed)
}

async function startVitamin(): Promise<{ child: ChildProcess; url: string; token: string }> {
  const program = existsSync("dist/vitamin.js") ? "dist/vitamin.js" : "src/edge/cli/vitamin.ts"
  const child = spawn(process.execPath, [program, "serve", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  child.once("exit", () => process.exit(1))
  let text = ""
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    const [, url, file] = /on (http:\S+) \(token in (.+)\)\n/.exec(text) ?? []
    if (url && file) return { child, url, token: readFileSync(file, "utf8").trim() }
  }
  throw new Error("vitamin serve did not start")
}
