// Checks a packed release: its files, its size, and that the packed command works where nothing else is.
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** In megabytes. */
const budget = { packed: 20, unpacked: 32 }
const allowed = /^(?:package\.json|README\.md|LICENSE|dist\/.+)$/
const forbidden = /\.(?:map|tsbuildinfo|test\.js|env)$|(?:^|\/)(?:node_modules|\.git)(?:\/|$)/
const needed = [
  "LICENSE",
  "README.md",
  "dist/LICENSES.txt",
  "dist/run-output.schema.json",
  "dist/model/README.md",
]
const permissive =
  /^(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Python-2\.0)$/

/** Throws if something is wrong; returns what was found. `root`: the checkout, whose path must not be in a file. */
export function checkTarball(
  tarball: string,
  { version, root }: { version: string; root: string },
): string[] {
  const folder = mkdtempSync(join(tmpdir(), "vitamin-tarball-"))
  try {
    execFileSync("tar", ["xzf", tarball, "-C", folder])
    const at = join(folder, "package")
    const files = readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(at.length + 1))
    checkFiles(at, files, root)
    const licences = checkLicences(readFileSync(join(at, "dist/LICENSES.txt"), "utf8"))
    const sizes = checkSizes(
      tarball,
      files.map((file) => statSync(join(at, file)).size),
    )
    checkCommand(at, folder, version)
    return [`${files.length} files, ${sizes}`, `${licences} licences`, `vitamin --version: ${version}`]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkFiles(at: string, files: string[], root: string): void {
  const odd = files.filter((file) => !allowed.test(file) || forbidden.test(file))
  if (odd.length) fail(`it has files that do not belong into it: ${odd.slice(0, 5).join(", ")}`)
  const { bin, exports } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"))
  const named = JSON.stringify([bin, exports]).match(/"(?:\.\/)?(?:dist\/[^"*]+|package\.json)"/g) ?? []
  const wanted = [...needed, ...named.map((name) => name.slice(1, -1).replace(/^\.\//, ""))]
  const missing = wanted.filter((file) => !existsSync(join(at, file)))
  if (missing.length) fail(`it lacks ${[...new Set(missing)].join(", ")}`)
  const leaking = files.filter((file) => readFileSync(join(at, file)).includes(root))
  if (leaking.length) fail(`paths of this checkout are in ${leaking.slice(0, 5).join(", ")}`)
}

/** Every bundled package begins with a line such as `zod 4.0.0 (MIT)`. */
function checkLicences(text: string): number {
  const found = [...text.matchAll(/^(@?[\w./-]+) \d\S* \((.+)\)$/gm)]
  const others = found.filter(
    ([, , licence]) => !licence!.split(/ (?:OR|AND) |[()]/).some((one) => permissive.test(one)),
  )
  if (!found.length) fail("dist/LICENSES.txt names no package")
  if (others.length) fail(`licences that are not permissive: ${others.map(([line]) => line).join(", ")}`)
  return found.length
}

function checkSizes(tarball: string, sizes: number[]): string {
  const packed = statSync(tarball).size / 1e6
  const unpacked = sizes.reduce((sum, size) => sum + size, 0) / 1e6
  const said = `${packed.toFixed(1)} MB packed, ${unpacked.toFixed(1)} MB unpacked`
  if (packed > budget.packed || unpacked > budget.unpacked)
    fail(`${said}; the budget is ${budget.packed} and ${budget.unpacked}`)
  return said
}

/** In an empty folder, with an empty home and no other variables than PATH. */
function checkCommand(at: string, folder: string, version: string): void {
  const [work, home] = [join(folder, "work"), join(folder, "home")]
  for (const made of [work, home]) mkdirSync(made)
  const vitamin = (...args: string[]) =>
    execFileSync(process.execPath, [join(at, "dist/vitamin.js"), ...args], {
      cwd: work,
      env: { HOME: home, PATH: process.env.PATH },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim()
  const said = vitamin("--version")
  if (said !== version) fail(`vitamin --version says ${said}, not ${version}`)
  if (!/^read\b/m.test(vitamin("tool", "list"))) fail("vitamin tool list does not list the tool read")
  if (!/\S/.test(vitamin("run", "--model", "local/rules", "what can you do?")))
    fail("vitamin run answers nothing")
}

function fail(why: string): never {
  throw new Error(`The tarball cannot be released: ${why}.`)
}
