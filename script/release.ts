// Prepares a release: version, changelog, build, checks, the tarball and its checksums. It never publishes: it prints how.
//   npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--tag] [--check COMMAND] [--out FOLDER]
// `--dry-run` restores the files at the end. `--tag` also commits and tags. `--check` replaces `npm run check`.
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { checkTarball } from "./release/check-tarball.ts"
import { nextVersion, withRelease } from "./release/next-version.ts"

const root = resolve(import.meta.dirname, "..")
const changed = ["package.json", "package-lock.json", "src/util/version.ts", "CHANGELOG.md"]
const usage =
  "npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--tag] [--check COMMAND] [--out FOLDER]"

type Options = { step: string; isDry: boolean; hasTag: boolean; check: string; out: string }

function release({ step, isDry, hasTag, check, out }: Options): void {
  refuseState()
  const { version: before } = JSON.parse(read("package.json")) as { version: string }
  const version = nextVersion(before, step)
  if (git("tag", "--list", `v${version}`)) throw new Error(`The tag v${version} exists already.`)
  const changelog = withRelease(read("CHANGELOG.md"), version, new Date().toISOString().slice(0, 10))
  mkdirSync(out, { recursive: true })
  const left = readdirSync(out).filter((name) => /\.tgz$|^SHA256SUMS$/.test(name))
  if (left.length) throw new Error(`${out} has files of another release: ${left.join(", ")}`)
  let isDone = false
  try {
    write("CHANGELOG.md", changelog)
    setVersion(before, version)
    inStep("build", () => run("node", ["script/build.ts"]))
    inStep("check", () => run("bash", ["-c", check]))
    const tarball = inStep("pack", () => pack(out))
    for (const line of inStep("tarball", () => checkTarball(tarball, { version, root })))
      console.log(`  ${line}`)
    writeFileSync(join(out, "SHA256SUMS"), `${hashOf(tarball)}  ${tarball.slice(out.length + 1)}\n`)
    isDone = true
    if (!isDry && hasTag) tag(version)
    report(tarball, { version, isDry, hasTag })
  } finally {
    // A release that failed half-way must not leave a new version behind.
    if (isDry || !isDone) git("checkout", "--quiet", "--", ...changed)
  }
}

function refuseState(): void {
  const dirty = git("status", "--porcelain")
  if (dirty) throw new Error(`The tree has changes. Commit or remove them first:\n${dirty.slice(0, 500)}`)
  const branch = git("branch", "--show-current")
  if (branch !== "main") throw new Error(`Releases are made on main, and this is ${branch || "no branch"}.`)
}

function setVersion(before: string, version: string): void {
  const replace = (file: string, times: number) => {
    const [text, from, to] = [read(file), `"${before}"`, `"${version}"`]
    const pieces = text.split(file.endsWith(".ts") ? from : `"version": ${from}`)
    if (pieces.length <= times) throw new Error(`${file} does not have the version ${before}.`)
    const glue = file.endsWith(".ts") ? to : `"version": ${to}`
    const rest = pieces.slice(times).join(file.endsWith(".ts") ? from : `"version": ${from}`)
    write(file, [...pieces.slice(0, times), rest].join(glue))
  }
  replace("package.json", 1)
  // The package itself, at the top and in its list.
  replace("package-lock.json", 2)
  replace("src/util/version.ts", 1)
}

function pack(out: string): string {
  run("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", out])
  return join(out, readdirSync(out).find((name) => name.endsWith(".tgz"))!)
}

function tag(version: string): void {
  git("commit", "--quiet", "--message", `chore(release): ${version}`, "--", ...changed)
  git("tag", "--annotate", `v${version}`, "--message", `vitamin ${version}`)
}

function report(tarball: string, done: { version: string; isDry: boolean; hasTag: boolean }): void {
  console.log(`${tarball}\n${hashOf(tarball)}`)
  if (done.isDry) {
    console.log(`${done.version} would work; the files are as before.`)
    return
  }
  const commit = done.hasTag
    ? ""
    : `git commit -am "chore(release): ${done.version}" && git tag v${done.version} && `
  console.log(`Nothing is published. To publish: ${commit}git push --follow-tags && npm publish ${tarball}`)
}

function inStep<T>(name: string, work: () => T): T {
  console.log(`${name} …`)
  return work()
}

function hashOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex")
}

function run(program: string, args: string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
  if (error ?? status !== 0)
    throw new Error(`${[program, ...args].join(" ")} failed${error ? `: ${error.message}` : ""}`)
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8")
}

function write(file: string, text: string): void {
  writeFileSync(join(root, file), text)
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "dry-run": { type: "boolean", default: false },
      tag: { type: "boolean", default: false },
      check: { type: "string", default: "npm run check" },
      out: { type: "string" },
    },
  })
  const [step, ...more] = positionals
  if (step === undefined || more.length) throw new Error(`Usage: ${usage}`)
  const isDry = values["dry-run"]
  const kept = values.out === undefined ? undefined : resolve(values.out)
  const out = kept ?? mkdtempSync(join(tmpdir(), "vitamin-release-"))
  try {
    release({ step, isDry, hasTag: values.tag, check: values.check, out })
  } finally {
    if (isDry && !kept) rmSync(out, { recursive: true, force: true })
  }
}

try {
  main()
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
