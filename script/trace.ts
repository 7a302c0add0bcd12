// Counts the source files whose functions run in one `vitamin run` with a read and an edit, and in one with an MCP
// call: what somebody must know to follow a call through the program. The model is scripted, on loopback.
//   node script/trace.ts [--list]
// A function counts if the run calls it more often than importing the modules does.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir as systemTmp } from "node:os"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { run } from "../test/fixture/child.ts"
import { call, env, fakeLlm, type Reply, text } from "../test/fixture/fake-llm.ts"
import { noServers } from "../test/fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../test/fixture/tmpdir.ts"

type Coverage = {
  result: { url: string; functions: { ranges: { startOffset: number; count: number }[] }[] }[]
}
/** How often each function of a module was called, by its place. The first one is the top level of the module. */
type Calls = Map<string, Map<number, number>>

/** The most files for a read and an edit, and the most additional files for a call of an MCP server. */
const goals = { local: 110, remote: 60 }
const sources = pathToFileURL(resolve("src")).href
const entry = resolve("src/edge/cli/vitamin.ts")
const server = { command: process.execPath, args: [resolve("test/fixture/mcp/hostile.mjs"), "plain"] }

const edit = { path: "README.md", edits: [{ oldText: "# fixture", newText: "# changed" }] }
const plain = await filesOf([text("Done.")])
const local = await filesOf([call("read", { path: "README.md" }), call("edit", edit), text("Done.")])
const remote = await filesOf([call("tiny_good", { text: "x" }), text("Done.")], { tiny: server })
print("one answer", plain)
print("one read and one edit", local, goals.local)
print("one MCP call, in addition to one answer", remote.difference(plain), goals.remote)

/** Source files with a function that one run called. */
async function filesOf(script: Reply[], mcpServers?: object): Promise<Set<string>> {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(script)
  if (mcpServers) tmp.write(".mcp.json", JSON.stringify({ mcpServers }))
  const args = [entry, "run", "--yes", ...(mcpServers ? ["--trust"] : []), "go"]
  const calls = await callsOf(tmp, args, { ...noServers, ...env(llm, "chat").variables })
  const results = llm.requests.at(-1)!.messages.flatMap((message) => message.results)
  if (
    llm.requests.length !== script.length ||
    results.some(({ text }) => /does not exist|failed/i.test(text))
  )
    throw new Error(`the run did not follow the script: ${JSON.stringify(results)}`)
  const modules = [...calls.keys()].filter((url) => url !== pathToFileURL(entry).href)
  const load = `for (const url of ${JSON.stringify(modules)}) await import(url)`
  const loaded = await callsOf(tmp, ["--input-type=module", "-e", load])
  const called = [...calls].filter(([url, functions]) =>
    [...functions].some(([place, count]) => place > 0 && count > (loaded.get(url)?.get(place) ?? 0)),
  )
  return new Set(called.map(([url]) => url.slice(sources.length + 1)))
}

async function callsOf(tmp: Tmp, args: string[], more: Record<string, string> = {}): Promise<Calls> {
  const folder = mkdtempSync(join(systemTmp(), "vitamin-trace-"))
  const variables = { ...tmp.env, ...more, NODE_V8_COVERAGE: folder }
  await using child = run(process.execPath, args, { cwd: tmp.path, env: variables })
  child.process.stdin?.end()
  const code = await child.exit
  if (code !== 0) throw new Error(`it ended with ${code}: ${child.errors()}`)
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))
  rmSync(folder, { recursive: true })
  const modules = files.flatMap((file) => (JSON.parse(file) as Coverage).result)
  return new Map(
    modules
      .filter(({ url }) => url.startsWith(sources))
      .map(({ url, functions }) => [
        url,
        new Map(functions.map(({ ranges: [whole] }) => [whole!.startOffset, whole!.count])),
      ]),
  )
}

function print(what: string, files: Set<string>, goal?: number) {
  const met = goal === undefined ? "" : `  goal ${goal} ${files.size <= goal ? "met" : "MISSED"}`
  console.log(`${what}: ${files.size} files${met}`)
  for (const [folder, names] of Object.entries(Object.groupBy([...files].sort(), dirname))) {
    console.log(`${String(names!.length).padStart(5)}  ${folder}`)
    if (process.argv.includes("--list"))
      for (const name of names!) console.log(`         ${name.slice(folder.length + 1)}`)
  }
}
