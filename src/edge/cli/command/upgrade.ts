// `vitamin upgrade`: finds out how this vitamin was installed and prints the command that upgrades it. It runs nothing and
// asks no server, so it works offline and cannot be told to run something else.
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { quoteWord } from "#util/quote-word.ts"
import { version } from "#util/version.ts"

const name = "@vitamin-agent/vitamin"
const newest = `${name}@latest`

type Found = { how: string; command: string }

/** Package managers by the file that shows which one a project uses. */
const locks: [file: string, add: string][] = [
  ["pnpm-lock.yaml", "pnpm add"],
  ["yarn.lock", "yarn add"],
  ["bun.lock", "bun add"],
  ["bun.lockb", "bun add"],
]
/** Folders of global installations. */
const globals: [folder: RegExp, add: string][] = [
  [/[\\/]pnpm[\\/](?:global[\\/]|.*[\\/]global[\\/])/, "pnpm add -g"],
  [/[\\/]\.bun[\\/]install[\\/]global[\\/]/, "bun add -g"],
  [/[\\/]yarn[\\/]global[\\/]/, "yarn global add"],
]

export function showUpgrade(): void {
  const folder = packageFolder()
  const { how, command } = find(folder)
  process.stdout.write(
    `vitamin ${version}, ${how}: ${folder}\nTo upgrade: ${command}\nThe newest version: npm view ${name} version\n`,
  )
}

function find(folder: string): Found {
  if (existsSync(join(folder, ".git"))) {
    const command = `cd ${quoteWord(folder)} && git pull && npm ci`
    return { how: "a checkout", command }
  }
  const parts = folder.split(sep)
  if (parts.includes("_npx")) return { how: "fetched by npx", command: `npx ${newest}` }
  const [, add] = globals.find(([path]) => path.test(folder)) ?? []
  if (add) return { how: "installed globally", command: `${add} ${newest}` }
  const at = parts.lastIndexOf("node_modules")
  if (at < 0) return { how: "unpacked by hand", command: `npm install -g ${newest}` }
  const holder = parts.slice(0, at).join(sep)
  // A prefix of npm has `lib/node_modules` and no package of its own.
  if (!existsSync(join(holder, "package.json")))
    return { how: "installed globally", command: `npm install -g ${newest}` }
  const [, own = "npm install"] = locks.find(([lock]) => existsSync(join(holder, lock))) ?? []
  return { how: "a dependency of a project", command: `cd ${quoteWord(holder)} && ${own} ${newest}` }
}

/** The nearest folder above this file that is our package; behind links, since `npm link` points at a checkout. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (dirname(folder) !== folder && !isOurs(join(folder, "package.json"))) folder = dirname(folder)
  return folder
}

function isOurs(file: string): boolean {
  try {
    return JSON.parse(readFileSync(file, "utf8")).name === name
  } catch {
    return false
  }
}
