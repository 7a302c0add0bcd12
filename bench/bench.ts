// Runs every benchmark, one after the other, each in a process of its own:
//   npm run bench            all of them
//   npm run bench start sse  some
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const all = [
  "start",
  "storage",
  "database",
  "cluster",
  "sse",
  "memory",
  "turns",
  "acp",
  "deltas",
  "fleet-deltas",
  "tools",
  "shell",
  "sandbox",
  "snapshot",
  "permission",
  "history",
  "sessions",
  "mcp",
  "many-servers",
  "retrieval",
  "many-tools",
  "relations",
  "routing",
  "documents",
  "vectors",
  "terminal",
  "delegation",
  "behavioral",
  "world",
  "explore",
  "guards",
  "no-guards",
  "lsp",
  "hooks",
  "telemetry",
  "page",
]
const chosen = process.argv.slice(2)

for (const name of chosen.length ? chosen : all) {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: "inherit",
  })
  if (status) process.exitCode = 1
}
