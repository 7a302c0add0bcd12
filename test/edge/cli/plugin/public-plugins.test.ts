// Plugins that are published on npm, installed as they are by `vitamin plugin add npm:NAME` from a registry on loopback, and
// used through the built command. docs/plugins.md names them.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../../fixture/fake-llm.ts"
import { folderRegistry } from "../../../fixture/folder-registry.ts"
import { type Archive, archiveFolder, offline } from "../../../fixture/public-packages.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type World = {
  tmp: Tmp
  /** Output of `vitamin plugin add`. */
  shown: string
  run(
    typed: string,
    script?: Reply[],
    variables?: Record<string, string>,
  ): Promise<{ sent: string; err: string }>
}

/** A test that is skipped if npm cannot fetch the package. */
function plugin(
  title: string,
  archive: Archive & { chosen?: string },
  check: (world: World) => Promise<void>,
) {
  test(title, async (t) => {
    let folder: string
    try {
      folder = archiveFolder(archive)
    } catch (error) {
      if (!String(error).includes("npm")) throw error
      return t.skip(`npm cannot fetch ${archive.name}@${archive.version} here`)
    }
    await using tmp = await tmpdir({ git: true })
    await using registry = await folderRegistry(folder)
    const npm = { npm_config_registry: registry.url, npm_config_cache: join(tmp.path, "../npm-cache") }
    const address = `npm:${archive.name}@${archive.version}${archive.chosen ?? ""}`
    const { code, out, err } = await vitamin(tmp, ["plugin", "add", address, "--yes"], npm)
    assert.equal(code, 0, err)
    await check({
      tmp,
      shown: out,
      async run(typed, script = [], variables = {}) {
        await using llm = await fakeLlm([...script, text("Done.")])
        const all = { ...env(llm, "chat").variables, ...npm, ...offline, ...variables }
        const ran = await vitamin(tmp, ["run", "--yes", typed], all)
        assert.equal(ran.code, 0, ran.err)
        return { sent: llm.requests.map(({ raw }) => raw).join("\n"), err: ran.err }
      },
    })
  })
}

const bash = (command: string) => call("bash", { command })

plugin(
  "gsd-core guards secrets by its hooks, and its commands are called without their folder",
  {
    name: "@opengsd/gsd-core",
    version: "1.14.0",
    integrity:
      "sha512-e05sV2c8KlcQ2hoJ4U3U1OBjqswQOon4C29Cs75fEAr+tq7qJ/XyFYrN/nwblREWUkPUUoxmVzLVj4Im2KjQxQ==",
  },
  async ({ tmp, shown, run }) => {
    assert.match(shown, /commands +commands\/gsd\/help\.md: \/gsd-core:help/)
    assert.doesNotMatch(shown, /\/gsd-core:gsd:/)
    tmp.write(".env", "KEY=hidden-value\n")
    const { sent, err } = await run("/gsd-core:help --brief", [bash("cat .env")])
    assert.match(sent, /Display GSD help at the tier/)
    assert.match(sent, /Arguments: --brief/)
    assert.match(err, /hook "gsd-secret-read-guard\.js" \(PreToolUse\) blocked bash/)
    assert.doesNotMatch(sent, /hidden-value/)
  },
)

plugin(
  "ecc blocks commands that skip git hooks, and has commands, agents and skills",
  {
    name: "ecc-universal",
    version: "2.0.0",
    integrity:
      "sha512-Dj7vsfOiuBD58OSvRJX8w9vHbyyIS6DxvtSs2LWnUBR2Wn/UeuJ0vwpISfk10VwLpFc6KPIfzdmkPQjPy9QJMw==",
  },
  async ({ tmp, run }) => {
    const servers = ["context7", "exa", "github", "memory", "playwright", "sequential-thinking"]
    const off = servers.map((name) => [`plugin_ecc_${name}`, { command: "true", disabled: true }])
    tmp.write(".mcp.json", JSON.stringify({ mcpServers: Object.fromEntries(off) }))
    const { sent, err } = await run("/ecc:checkpoint create first", [
      bash("git commit --allow-empty --no-verify -m x"),
    ])
    assert.match(sent, /create first/)
    assert.match(err, /\(PreToolUse\) blocked bash: .*no-verify/)
    assert.equal(tmp.git("rev-list", "--count", "HEAD").trim(), "1")
    const agents = await vitamin(tmp, ["agent", "list"])
    assert.match(agents.out, /ecc:code-reviewer/)
  },
)

plugin(
  "bmad-method is a marketplace whose skills are called by name",
  {
    name: "bmad-method",
    version: "6.12.0",
    integrity:
      "sha512-gbbHo32TxCPwo4Yy70kqykFRwN5UdYqfnDKTsKAsF9m5qtLeoiCgEawj/LuzLBHLrYA0WTOyL/XWtXpgyDonMQ==",
    chosen: "#bmad-method-analyze-plan-build",
  },
  async ({ run }) => {
    const { sent } = await run("/bmad-method-analyze-plan-build:bmad-help where am I?")
    assert.match(sent, /Help the user understand where they are in their BMad workflow/)
  },
)

plugin(
  "oh-my-codex is a Codex plugin of a local marketplace, and its servers stay off",
  {
    name: "oh-my-codex",
    version: "0.21.6",
    integrity:
      "sha512-/L3DS+/qhgLmw2nmACCCK2Veodte0pYW1ObSViqBZ5xwa+LPs6ZdCwi8xw0e6E1WEqaxaLn1D5r+zrOlwReHDQ==",
  },
  async ({ tmp, shown, run }) => {
    assert.match(shown, /^oh-my-codex 0\.21\.6 of npm:oh-my-codex/)
    const { sent } = await run("/oh-my-codex:code-review src")
    assert.match(sent, /code-review/)
    const { out } = await vitamin(tmp, ["mcp", "list"])
    assert.match(out, /plugin_oh-my-codex_omx_state unusable .*\n +it is disabled/)
  },
)

plugin(
  "agentmemory tells its server about the session, and adds what that remembers",
  {
    name: "@agentmemory/agentmemory",
    version: "0.9.29",
    integrity:
      "sha512-NGHEi563Ap6MDan19slUH47qrTHRRyLCsuEsa1tRZ0y3e4urJnxedLJR9/agp47P1nw6LiCEvNRvK4LfUWj9Gg==",
  },
  async ({ run }) => {
    const paths: string[] = []
    const server = createServer((request, response) => {
      paths.push(request.url ?? "")
      response.setHeader("content-type", "application/json")
      request.resume().on("end", () => response.end(JSON.stringify({ context: "REMEMBERED: use tabs" })))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    try {
      const { port } = server.address() as AddressInfo
      const { sent } = await run("go", [], {
        AGENTMEMORY_URL: `http://127.0.0.1:${port}`,
        AGENTMEMORY_INJECT_CONTEXT: "true",
      })
      assert.match(sent, /REMEMBERED: use tabs/)
      assert.match(paths.join("\n"), /session/)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  },
)
