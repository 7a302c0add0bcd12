// Runs a shell command with Node 24 first on the PATH. Where the machine's own Node is older, npm brings one along, into
// script/node24/node_modules, once. Plain JavaScript, since an old Node starts it:
//   node script/node24.mjs "node script/build.ts"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const bin = dirname(Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : broughtAlong())
const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
const { status, signal } = spawnSync(process.argv.slice(2).join(" "), { shell: true, stdio: "inherit", env })
process.exit(status ?? 128 + (constants.signals[signal] ?? 1))

function broughtAlong() {
  const folder = join(here, "node24")
  const node = join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node")
  if (!existsSync(node)) {
    console.error(`Node ${process.versions.node} is too old for vitamin; bringing Node 24 along`)
    spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      stdio: "inherit",
    })
  }
  if (existsSync(node)) return node
  console.error(
    "vitamin needs Node 24 or newer, and none could be installed for this machine. See https://nodejs.org",
  )
  process.exit(1)
}
