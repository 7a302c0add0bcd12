// The packed npm package: it needs nothing else, and finds a Node that can run it.
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { version } from "#util/version.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { pack } from "../../fixture/pack.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
// Makes the launcher believe that its Node is old. The Node that it starts is not affected.
const asOldNode =
  'data:text/javascript,Object.defineProperty(process, "versions", { value: { node: "20.1.0" } })'

/** The packed package, unpacked in a folder that has nothing else. */
function unpack(tmp: Tmp): string {
  execFileSync("tar", ["xzf", pack()], { cwd: tmp.path })
  return join(tmp.path, "package", "dist", "vitamin.js")
}

function run(tmp: Tmp, args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers },
    encoding: "utf8",
  })
  return { status, stdout, stderr }
}

test("the packed package runs without node_modules, the source or a project", async () => {
  await using tmp = await tmpdir()
  const command = unpack(tmp)
  assert.equal(existsSync(join(tmp.path, "package", "src")), false)
  assert.match(readFileSync(join(tmp.path, "package", "dist", "LICENSES.txt"), "utf8"), /^zod .+ \(MIT\)$/m)
  const model = join("knowledge", "embedder", "model", "embedder.bin")
  const shipped = readFileSync(join(tmp.path, "package", "dist", "model", "embedder.bin"))
  assert.ok(shipped.equals(readFileSync(join(root, "src", model))))
  const licences = readFileSync(join(tmp.path, "package", "dist", "model", "README.md"), "utf8")
  assert.match(licences, /\| WordNet 3\.1 +\| WordNet licence/)
  assert.match(run(tmp, [command, "tool", "search", "read a file"]).stdout, /^read .*\n.*meaning #1 /)
  assert.equal(run(tmp, [command, "--version"]).stdout, `${version}\n`)
  const shown = run(tmp, [command, "config", "show"])
  assert.equal(shown.status, 0, shown.stderr)
  assert.match(run(tmp, [command, "run", "x"]).stderr, /no model is configured/)
  const library = run(tmp, [
    "--input-type=module",
    "-e",
    `import { Storage } from ${JSON.stringify(join(tmp.path, "package/dist/index.js"))}
     await Storage.write(["a", "b"], { n: 1 })
     console.log(JSON.stringify(await Storage.read(["a", "b"])))
     await Storage.close()`,
  ])
  assert.equal(library.stdout, '{"n":1}\n', library.stderr)
})

test("the installed command restarts in the bundled Node if the machine's is too old", async () => {
  await using tmp = await tmpdir()
  const command = unpack(tmp)
  const shipped = `node-${process.platform}-${process.arch}`
  mkdirSync(join(tmp.path, "node_modules", shipped, "bin"), { recursive: true })
  symlinkSync(process.execPath, join(tmp.path, "node_modules", shipped, "bin", "node"))
  const { status, stdout, stderr } = run(tmp, ["--import", asOldNode, command, "doctor"])
  assert.equal(status, 0, stderr)
  assert.ok(stdout.includes(`${version} on Node ${process.version}`), stdout)
  assert.equal(run(tmp, ["--import", asOldNode, command, "run"]).status, 2)
})

test("the installed command says what to do if no Node is new enough", async () => {
  await using tmp = await tmpdir()
  const command = unpack(tmp)
  tmp.env.PATH = "/nonexistent"
  const { status, stderr } = run(tmp, ["--import", asOldNode, command, "doctor"])
  assert.equal(status, 1)
  assert.match(stderr, /^vitamin needs Node 24 or newer, this is v.*npm install/)
})
