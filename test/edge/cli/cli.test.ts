// The command line as a process: help, exit codes, errors, and each command.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { findProgram } from "#kernel/process/find-program.ts"
import { version } from "#util/version.ts"
import { serving, startVitamin, vitamin } from "../../fixture/cli.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"))

test("vitamin --version prints the version of the package", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["--version"])
  assert.equal(code, 0)
  assert.equal(out, manifest.version)
  assert.equal(version, manifest.version)
})

test("vitamin alone, without a terminal, prints a short help with four examples", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, [])
  assert.equal(code, 0)
  assert.equal(out.match(/^ {2}vitamin /gm)?.length, 4)
})

test("vitamin --help lists every command with what it does", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["--help"])
  assert.equal(code, 0)
  for (const command of ["run", "serve", "config", "trust", "doctor"])
    assert.match(out, new RegExp(`^ {2}vitamin ${command}\\b.*[a-z]{3}`, "m"))
})

for (const [args, says] of [
  [["rnu", "x"], /"rnu" is not a command\. Did you mean: vitamin run\?/],
  [["skill", "lst"], /Did you mean: vitamin skill list\? \(vitamin skill --help\)/],
  [["session", "mode", "x"], /Name the mode, plan or act/],
  [["session", "shwo"], /Unknown command\. Did you mean: vitamin session show\?/],
  [["run", "--modle", "a/b", "x"], /Unknown option: --modle\. Did you mean --model\?/],
  [["--log-file", "session", "run", "--modle", "x"], /Unknown option: --modle.* \(vitamin run --help\)/],
  [["run"], /Say what to do/],
  [["sesion", "list"], /"sesion" is not a command\. Did you mean: vitamin session\?/],
  [["run", "--max-cost", "abc", "x"], /--max-cost takes a number above 0, such as --max-cost 5/],
  [["run", "--timeout", "abc", "x"], /--timeout takes a number above 0/],
  [["run", "--timeout", "0", "x"], /--timeout takes a number above 0/],
  [["run", "--max-steps", "-1", "x"], /--max-steps takes a whole number from 1 on/],
  [["run", "--max-steps", "1.5", "x"], /--max-steps takes a whole number from 1 on/],
  [["run", "  "], /Say what to do/],
  [["config"], /vitamin config show/],
  [["serve", "--port", "abc"], /--port takes a number from 0 to 65535/],
  [["serve", "--port", "70000"], /--port takes a number/],
  [["serve", "--host="], /--host takes one address/],
  [["serve", "--host", "a", "--host", "b"], /--host takes one address/],
  [["serve", "--no-host"], /--host takes one address/],
  [["run", "x", "--log-level", "loud"], /"debug", "info", "warn", "error"/],
  [
    ["run", "x", "--format", "xml"],
    /: --format takes one of "text", "json", not "xml" \(vitamin run --help\)/,
  ],
  [["trust", "--remove", "--list"], /Use --remove or --list, not both \(vitamin trust --help\)/],
  [["run", "--session", "x", "--continue", "go"], /Use --session or --continue, not both/],
  [["auth", "login"], /Name a provider, such as: vitamin auth login anthropic \(vitamin models lists all\)/],
] as const)
  test(`vitamin ${args.join(" ")} is a usage error: one line on stderr, exit code 2`, async () => {
    await using tmp = await tmpdir()
    const { code, out, err } = await vitamin(tmp, [...args])
    assert.equal(code, 2, err)
    assert.equal(out, "")
    assert.match(err, says)
    assert.match(err, /^vitamin: [^\n]+\n$/)
  })

test("vitamin run says in one line that no model is configured, which model it uses, and how to choose one", async () => {
  await using tmp = await tmpdir()
  const { code, out, err } = await vitamin(tmp, ["run", "Fix the login bug"])
  assert.equal(code, 1)
  assert.match(out, /This leaves open what to write/)
  assert.match(err, /^vitamin: no model is configured: .*local\/rules.*VITAMIN_MODEL=provider\/model.*\n$/)
})

test("vitamin run says once that no model is configured, and names the model at the end of each run", async () => {
  await using tmp = await tmpdir()
  const first = await vitamin(tmp, ["run", "hello"])
  assert.match(first.err, /^vitamin: no model is configured/)
  const second = await vitamin(tmp, ["run", "hello"])
  assert.deepEqual([second.code, second.err], [0, ""])
  await using terminal = openTerminal(tmp, ["run", "hello"], { env: noServers })
  assert.equal(await terminal.exit, 0, terminal.shown())
  assert.doesNotMatch(terminal.shown(), /no model is configured/)
  assert.match(terminal.shown(), /^sess_\w{10} · local\/rules · \d+ s · continue: /m)
  const events = await vitamin(tmp, ["run", "--format", "json", "hello"])
  assert.match(events.out, /"model\.chosen".*no model is configured/)
})

test("vitamin run shows a stack only with --log-level debug", async () => {
  await using tmp = await tmpdir()
  const wrong = ["run", "x", "--model", "nonsense"]
  assert.doesNotMatch((await vitamin(tmp, wrong)).err, /\n {4}at /)
  assert.match((await vitamin(tmp, [...wrong, "--log-level", "debug"])).err, /\n {4}at /)
})

test("vitamin run --dir with a missing folder fails and names the folder", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["run", "x", "--dir", join(tmp.path, "nowhere")])
  assert.equal(code, 1)
  assert.match(err, /nowhere" cannot be used: ENOENT/)
})

test("vitamin --log-file writes the log to the file, not to stderr", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "vitamin.log")
  const { err } = await vitamin(tmp, ["session", "list", "--log-level", "debug", "--log-file", file])
  assert.equal(err, "")
  assert.match(readFileSync(file, "utf8"), /DEBUG part is up name=config/)
})

test("vitamin config show prints the layer of each value, without secrets", async () => {
  await using tmp = await tmpdir({ git: true })
  mkdirSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin"), { recursive: true })
  const global = join(tmp.env.XDG_CONFIG_HOME!, "vitamin", "vitamin.jsonc")
  writeFileSync(
    global,
    '{ "provider": { "default": "anthropic", "openai": { "apiKey": "sk-canary-000111222" } } }',
  )
  tmp.write(".vitamin/config.jsonc", '{ // mine\n "provider": { "default": "openai" }, "modle": "x" }')
  const { code, out, err } = await vitamin(tmp, ["config", "show"], { VITAMIN_CONFIG: '{ "model": "a/b" }' })
  assert.equal(code, 0, err)
  assert.match(out, /provider\.default = openai +\(project\)/)
  assert.match(out, /model = a\/b +\(environment\)/)
  assert.match(out, /provider\.openai\.apiKey = \[redacted\] +\(global\)/)
  assert.match(out, /modle.*did you mean.*model/i)
  assert.doesNotMatch(out + err, /canary/)
  const json = JSON.parse((await vitamin(tmp, ["config", "show", "--format", "json"])).out)
  assert.equal(json.config.provider.default, "openai")
  assert.equal(json.origins["provider.default"], "project")
})

test("vitamin with a broken configuration names the file, the place and the key, exit code 1", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".vitamin/config.jsonc", '{\n  "provider": { "default": 5 }\n}')
  const { code, out, err } = await vitamin(tmp, ["config", "show"])
  assert.equal(code, 1)
  assert.equal(out, "")
  assert.ok(err.includes(`${file}:2:17: provider.default:`), err)
})

test("vitamin trust allows project code, --trust for one run only, and --remove revokes it", async () => {
  await using tmp = await tmpdir({ git: true })
  const marker = join(tmp.path, "ran")
  tmp.write(
    ".vitamin/config.ts",
    `import { writeFileSync } from "node:fs"\nimport { defineConfig } from "vitamin"\n` +
      `writeFileSync(${JSON.stringify(marker)}, "")\nexport default defineConfig({ model: "from/code" })`,
  )
  const model = async (...args: string[]) =>
    /model = (\S+)/.exec((await vitamin(tmp, ["config", "show", ...args])).out)?.[1]
  const ran = () => statSync(marker, { throwIfNoEntry: false }) !== undefined

  assert.equal(await model(), undefined)
  assert.equal(ran(), false)
  assert.equal(await model("--trust"), "from/code")
  assert.equal(ran(), true)
  assert.equal(await model(), undefined)
  const [first, second] = (await vitamin(tmp, ["trust", "--yes"])).out.split("\n")
  assert.equal(first, `Trusted: ${tmp.path}`)
  assert.match(second!, /^ {2}new {6}\.vitamin\/config\.ts {2}sha256:[\da-f]{16} {2}\+4 -0$/)
  assert.equal(await model(), "from/code")
  assert.equal((await vitamin(tmp, ["trust", "--list"])).out, tmp.path)
  assert.equal((await vitamin(tmp, ["trust", "--remove"])).out, `No longer trusted: ${tmp.path}`)
  assert.equal(await model(), undefined)
})

test("vitamin doctor lists what works, what is broken, and how to fix it", async () => {
  await using tmp = await tmpdir({ git: true })
  const well = await vitamin(tmp, ["doctor"])
  assert.equal(well.code, 0, well.err)
  assert.match(well.out, /^ok +git +\d/m)
  assert.match(well.out, /^note +trust[^\n]*\n +→ vitamin trust/m)
  assert.match(well.out, /All is well/)

  mkdirSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/session/p"), { recursive: true })
  writeFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/session/p/good.json"), "{}")
  writeFileSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/session/p/cut.json"), '{ "id"')
  tmp.write(".vitamin/config.jsonc", "{ nonsense")
  const ill = await vitamin(tmp, ["doctor"])
  assert.equal(ill.code, 1)
  assert.match(ill.out, /session\/p\/cut is broken/)
  assert.match(ill.out, /bad +configuration +.*config\.jsonc:1:3/)
  assert.match(ill.out, /2 of these need attention/)
})

test("vitamin doctor says what isolates, or how to get bubblewrap", async () => {
  await using tmp = await tmpdir()
  const { out } = await vitamin(tmp, ["doctor"])
  const isFound = findProgram(["bwrap"]) !== undefined
  assert.match(
    out,
    isFound ? /^ok +sandbox +bubblewrap isolates programs as/m : /^note +sandbox +.*apt install bubblewrap/m,
  )
  tmp.write("../bin/bash", "")
  symlinkSync(process.execPath, join(tmp.path, "../bin/node"))
  const without = await vitamin(tmp, ["doctor"], { PATH: join(tmp.path, "../bin") })
  assert.match(
    without.out,
    /^note +sandbox +The sandbox did not start: bubblewrap \(bwrap\) is not on the PATH/m,
  )
})

test("vitamin doctor tests a folder by writing a byte, and removes it", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["doctor"], { XDG_CACHE_HOME: "/sys/vitamin-test" })
  assert.equal(code, 1)
  assert.match(
    out,
    /^bad +cache folder +.*\n +→ make \/sys\/vitamin-test\/vitamin writable, or set XDG_CACHE_HOME/m,
  )
  assert.match(out, /^ok +data folder/m)
  const left = readdirSync(join(tmp.path, ".."), { recursive: true }).map(String)
  assert.deepEqual(
    left.filter((name) => /\.tmp_/.test(name)),
    [],
  )
})

test("vitamin doctor distinguishes the person's server from another vitamin server and from other programs", async () => {
  await using tmp = await tmpdir()
  const { child, url } = await serving(tmp)
  await using _ = child
  const look = async (port: string, env = {}) => (await vitamin(tmp, ["doctor", "--port", port], env)).out
  const { port } = new URL(url)
  assert.match(await look(port), new RegExp(`^ok +server +your server answers on port ${port}$`, "m"))
  const elsewhere = join(tmp.path, "..", "other-state")
  mkdirSync(join(elsewhere, "vitamin"), { recursive: true })
  writeFileSync(join(elsewhere, "vitamin/token"), "x".repeat(64), { mode: 0o600 })
  const others = await look(port, { XDG_STATE_HOME: elsewhere })
  assert.match(
    others,
    /^note +server +another vitamin server, or a relay to one, answers on port \d+; your server does not run there/m,
  )
  const relay = createServer(async ({ url: path, headers }, response) => {
    const challenge = String(headers["x-vitamin-challenge"])
    const answer = await fetch(url + path, { headers: { "x-vitamin-challenge": challenge } })
    response.setHeader("content-type", "application/json").end(await answer.text())
  }).listen(0, "127.0.0.1")
  await once(relay, "listening")
  const relayed = await look(String((relay.address() as AddressInfo).port))
  relay.close()
  assert.match(relayed, /^note +server +another vitamin server, or a relay to one, answers/m)
  const seen: (string | undefined)[] = []
  const stranger = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(200, { "content-type": "application/json" }).end('{ "status": "ok" }')
  }).listen(0, "127.0.0.1")
  await once(stranger, "listening")
  const { port: takenPort } = stranger.address() as AddressInfo
  const strangers = await look(String(takenPort))
  stranger.close()
  assert.match(
    strangers,
    /^note +server +another program answers on port \d+; your server does not run there\n +→ vitamin serve --port 0/m,
  )
  assert.deepEqual(seen, [undefined])
  assert.match(await look(String(takenPort)), /^note +server +none on port \d+$/m)
})

test("vitamin serve prints one ready line, answers, and stops cleanly on SIGTERM", async () => {
  await using tmp = await tmpdir({ git: true })
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  assert.equal((await fetch(`${url}/health`)).status, 200)
  assert.equal((await fetch(`${url}/info`)).status, 401)
  const token = readFileSync(tokenFile, "utf8").trim()
  assert.equal(statSync(tokenFile).mode & 0o777, 0o600)
  assert.equal(tokenFile, join(tmp.env.XDG_STATE_HOME!, "vitamin", "token"))
  const info = await fetch(`${url}/info`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(((await info.json()) as { directory: string }).directory, tmp.path)
  child.process.kill("SIGTERM")
  assert.equal(await child.exit, 143, child.errors())
  assert.equal(child.lines.length, 1)
})

test("vitamin serve says what to do if its port is in use", async () => {
  await using tmp = await tmpdir()
  const { child, url } = await serving(tmp)
  await using _ = child
  const port = new URL(url).port
  const { code, err } = await vitamin(tmp, ["serve", "--port", port])
  assert.equal(code, 1)
  assert.match(err, new RegExp(`Port ${port} .*in use.*--port 0`))
})

test("vitamin config show stops quietly when nobody reads its output", async () => {
  await using tmp = await tmpdir()
  await using child = startVitamin(tmp, ["config", "show"])
  child.process.stdout?.destroy()
  assert.equal(await child.exit, 0, child.errors())
})

test("vitamin config show and doctor escape control characters of a project, so that it cannot forge a line", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/config.jsonc",
    '{ "model": "a/\\u001b]0;x\\u0007b", "agent": { "name": "x\\n  model = good/one  (global)" } }',
  )
  const shown = await vitamin(tmp, ["config", "show"])
  assert.equal(shown.code, 0, shown.err)
  assert.match(shown.out, /model = a\/\\u001b\]0;x/)
  assert.doesNotMatch(shown.out, /^ *model = good/m)
  for (const text of [shown.out, (await vitamin(tmp, ["doctor"])).out])
    assert.doesNotMatch(text, /[\u0007\u001b]/)
})

test("vitamin doctor --dir names the check that a missing folder fails", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["doctor", "--dir", join(tmp.path, "nope")])
  assert.equal(code, 1)
  assert.match(out, /^bad +(configuration|trust) +.*nope/m)
})

test("empty lists are reported as empty", async () => {
  await using tmp = await tmpdir()
  assert.equal((await vitamin(tmp, ["trust", "--list"])).out, "No folder is trusted yet.")
  const { out, err } = await vitamin(tmp, ["auth", "list"])
  assert.deepEqual([out, err], ["", "No provider has a key yet: vitamin auth login PROVIDER\n"])
})
