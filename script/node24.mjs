// Runs a shell command with Node 24 first on the PATH. If the machine's own Node is older, npm installs one into
// script/node24/node_modules, and `npx node` runs that one too. Plain JavaScript, because an old Node must run it.
//   node script/node24.mjs "node script/build.ts"
import { spawnSync } from "node:child_process"
import { existsSync, symlinkSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const bin = dirname(Number.parseInt(process.versions.node, 10) >= 24 ? process.execPath : installedNode())
const env = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
const { status, signal } = spawnSync(process.argv.slice(2).join(" "), { shell: true, stdio: "inherit", env })
process.exit(status ?? 128 + (constants.signals[signal] ?? 1))

function installedNode() {
  const folder = join(here, "node24")
  const node = join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node")
  if (!existsSync(node)) {
    console.error(`Node ${process.versions.node} is too old for vitamin; installing Node 24`)
    spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      stdio: "inherit",
    })
  }
  if (existsSync(node)) {
    offerToNpx(node)
    return node
  }
  console.error(
    "vitamin needs Node 24 or newer, and none could be installed for this machine. See https://nodejs.org",
  )
  process.exit(1)
}

/** npx looks into this folder first. */
function offerToNpx(node) {
  const folder = join(here, "..", "node_modules", ".bin")
  try {
    symlinkSync(relative(folder, node), join(folder, "node"))
  } catch {
    // It is there already, or the packages are not installed yet.
  }
}
