// Proofs of the keys about MCP servers.
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { tinyServer } from "../../../ability/mcp/servers.ts"
import { startVitamin } from "../../../fixture/cli.ts"
import { call, text } from "../../../fixture/fake-llm.ts"
import { lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { reachable } from "./models.ts"
import { Code, type Outcome, type Proof, type World } from "./proof.ts"

type Effect = Extract<Proof, { seen: unknown }>
const tested = [["mcp", "test", "--format", "json"]]
const first = (_: World, { out }: Outcome) => (out.startsWith("[") ? JSON.parse(out)[0] : undefined)

function tiny(behaviour: object, log?: string) {
  const { command, args } = tinyServer(behaviour, log)
  return { id: "tiny", name: "Tiny", transport: "stdio", command: [command, ...args] }
}

const servers = (...list: object[]) => ({ mcp: { servers: list } })
const onlyTiny = () => servers(tiny({ tools: [{ name: "one" }] }))
const overHttp = (world: World, more: object = {}) =>
  servers({ id: "web", name: "Web", transport: "http", url: `${world.web.url}/mcp`, ...more })

/** A program that is not a server, but records how it was started. */
function noting({ outside }: World, what: string, more: object) {
  const write = `require("fs").writeFileSync(${JSON.stringify(outside("noted"))}, ${what})`
  return servers({
    id: "n",
    name: "N",
    transport: "stdio",
    command: [process.execPath, "-e", write],
    ...more,
  })
}
const noted = ({ outside }: World) =>
  existsSync(outside("noted")) ? readFileSync(outside("noted"), "utf8") : ""

function hook(name: string, body: string, server?: (world: World) => object): Effect {
  return {
    config: (world) => {
      const { mcp } = server ? (server(world) as ReturnType<typeof servers>) : onlyTiny()
      const note = `appendFileSync(${JSON.stringify(world.outside("noted"))}, "x")`
      const others = name === "onAuthRefresh" ? { onAuth: new Code('async () => ({ value: "old" })') } : {}
      return { mcp: { ...mcp, hooks: { ...others, [name]: new Code(`(given) => { ${note}; ${body} }`) } } }
    },
    commands: tested,
    seen: (world) => noted(world) !== "",
    expected: true,
  }
}

export const mcpProofs: Record<string, Proof> = {
  "mcp.servers[].id": {
    config: onlyTiny,
    other: "another",
    commands: tested,
    seen: (...given) => first(...given)?.id,
    expected: "tiny",
  },
  "mcp.servers[].name": {
    config: onlyTiny,
    other: "Another",
    commands: tested,
    seen: (...given) => first(...given)?.name,
    expected: "Tiny",
  },
  "mcp.servers[].transport": {
    config: onlyTiny,
    other: "http",
    commands: tested,
    seen: (...given) => first(...given)?.state,
    expected: "connected",
  },
  "mcp.servers[].command": {
    config: onlyTiny,
    commands: tested,
    seen: (...given) => first(...given)?.state,
    expected: "connected",
  },
  "mcp.servers[].env": {
    config: (world) => noting(world, "String(process.env.MINE)", { env: { MINE: "yes" } }),
    commands: tested,
    seen: noted,
    expected: "yes",
  },
  "mcp.servers[].cwd": {
    config: (world) => noting(world, "String(process.cwd().endsWith('/below'))", { cwd: "below" }),
    prepare: ({ outside }) => void mkdirSync(outside("home/below"), { recursive: true }),
    commands: tested,
    seen: noted,
    expected: "true",
  },
  "mcp.servers[].timeout": {
    config: (world) => ({
      ...reachable(world),
      ...servers({ ...tiny({ tools: [{ name: "one" }], waitsFor: "/never" }), timeout: 300 }),
    }),
    other: 700,
    model: (request) => (request.messages.length < 2 ? call("tiny_one", {}) : text("Done.")),
    commands: [...tested, ["run", "--yes", "call one"]],
    seen: ({ llm }) => /\b(0\.3 s|300 ms)/.exec(llm.requests[1]?.raw ?? "")?.[0] !== undefined,
    expected: true,
  },
  "mcp.servers[].url": {
    config: overHttp,
    commands: tested,
    seen: ({ web }) => web.requests[0]?.path,
    expected: "/mcp",
  },
  "mcp.servers[].headers": {
    config: (world) => overHttp(world, { headers: { "x-team": "blue" } }),
    commands: tested,
    seen: ({ web }) => web.requests[0]?.headers["x-team"],
    expected: "blue",
  },
  "mcp.servers[].auth.type": {
    config: (world) => overHttp(world, { auth: { type: "bearer", token: "own-token" } }),
    other: "none",
    commands: tested,
    seen: ({ web }) => web.requests[0]?.headers.authorization,
    expected: "Bearer own-token",
  },
  "mcp.servers[].auth.token": {
    config: (world) => overHttp(world, { auth: { type: "bearer", token: "own-token" } }),
    commands: tested,
    seen: ({ web }) => web.requests[0]?.headers.authorization,
    expected: "Bearer own-token",
  },
  "mcp.servers[].auth.clientId": {
    config: () =>
      servers({
        id: "web",
        name: "W",
        transport: "http",
        url: "http://LOCKED/mcp",
        auth: { type: "oauth", clientId: "registered" },
      }),
    perform: async ({ tmp }, { VITAMIN_CONFIG: config }) => {
      await using locked = await lockedServer()
      const env = { VITAMIN_CONFIG: config!.replace("http://LOCKED/mcp", locked.url) }
      await using child = startVitamin(tmp, ["mcp", "login", "web"], env)
      const out = await child.line(/client_id=/)
      child.process.kill("SIGINT")
      return { code: await child.exit, out, err: child.errors() }
    },
    seen: (_, { out }) => /client_id=([\w-]+)/.exec(out)?.[1],
    expected: "registered",
  },
  "mcp.hooks.onAuth": hook("onAuth", 'return Promise.resolve({ value: "t" })', overHttp),
  "mcp.hooks.onAuthRefresh": hook("onAuthRefresh", 'return Promise.resolve({ value: "new" })', overHttp),
  "mcp.hooks.onRequest": hook("onRequest", "return given"),
  "mcp.hooks.onResponse": hook("onResponse", "return given"),
  "mcp.hooks.onLog": hook("onLog", "", () => servers(tiny({ mode: "crash" }))),
  "mcp.hooks.onPaginate": hook("onPaginate", "return Promise.resolve(true)", () =>
    servers(tiny({ tools: [{ name: "one" }], pages: true })),
  ),
  "mcp.logLevel": {
    config: () => ({ mcp: { ...servers(tiny({ logs: true })).mcp, logLevel: "info" } }),
    commands: tested,
    seen: (_, { err }) => /warning: "?MCP server tiny: told from info on/.test(err),
    expected: true,
  },
  "mcp.resourceAge": {
    config: (world) => ({
      ...reachable(world),
      mcp: {
        ...servers(
          tiny(
            { resources: [{ uri: "notes://one", name: "one", mimeType: "text/plain", text: "One." }] },
            world.outside("noted"),
          ),
        ).mcp,
        resourceAge: { "text/*": 0 },
      },
    }),
    commands: [
      ...tested,
      ["run", "--yes", "@tiny:notes://one"],
      ["run", "--yes", "--continue", "again @tiny:notes://one"],
    ],
    seen: (world) => noted(world).match(/^read/gm)?.length,
    expected: 2,
  },
}
