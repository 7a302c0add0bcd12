// The compose file and the systemd unit of docs/cluster: what they name exists in the program.
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { test } from "node:test"
import { parse } from "yaml"
import { command } from "../fixture/cli.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
const { name } = JSON.parse(read("package.json")) as { name: string }
const manual = read("docs/cluster.md")

type Service = {
  image: string
  command?: string[]
  environment: Record<string, string>
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
}

/** Every option of a line is one of `vitamin serve`. */
function checkServe(words: string[]) {
  assert.equal(words[0], "serve", words.join(" "))
  const help = execFileSync(process.execPath, [command, "serve", "--help"], { encoding: "utf8" })
  const options = words.filter((word) => word.startsWith("--"))
  assert.ok(options.length > 0)
  for (const option of options) assert.match(help, new RegExp(`^ +(-\\w, )?${option} `, "m"))
}

/** Variables are read by the program, or by PostgreSQL's client. */
function checkVariables(names: string[]) {
  for (const one of names.filter((each) => each.startsWith("VITAMIN_")))
    assert.match(manual, new RegExp(`\\b${one}\\b`))
  assert.ok(
    names.includes("VITAMIN_DATABASE") && names.includes("VITAMIN_FLEET") && names.includes("PGPASSWORD"),
  )
}

test("docs/cluster/compose.yaml starts vitamin with options and variables that exist", () => {
  const { services, volumes } = parse(read("docs/cluster/compose.yaml"), { merge: true }) as {
    services: Record<string, Service>
    volumes: Record<string, null>
  }
  const servers = Object.values(services).filter((service) => service.command)
  assert.equal(servers.length, 2)
  for (const server of servers) {
    const [npx, yes, program, ...words] = server.command!
    assert.deepEqual([npx, yes, program], ["npx", "--yes", name])
    checkServe(words)
    checkVariables(Object.keys(server.environment))
    assert.deepEqual(server.depends_on, { database: { condition: "service_healthy" } })
  }
  assert.equal(new Set(servers.map((server) => server.command!.join(" "))).size, 2, "two ports")
  const used = Object.values(services)
    .flatMap((service) => service.volumes ?? [])
    .map((one) => one.split(":")[0]!)
  assert.deepEqual(
    [...new Set(used.filter((one) => !one.startsWith(".")))].sort(),
    Object.keys(volumes).sort(),
  )
  // The address fits the database of the file, without a password in it.
  const address = new URL(servers[0]!.environment.VITAMIN_DATABASE!)
  const { POSTGRES_USER, POSTGRES_DB } = services.database!.environment
  assert.deepEqual(
    [address.username, address.pathname.slice(1), address.password],
    [POSTGRES_USER, POSTGRES_DB, ""],
  )
})

test("docs/cluster/vitamin.service starts vitamin with options that exist, and systemd takes it", async (t) => {
  const unit = read("docs/cluster/vitamin.service")
  const [, line] = /^ExecStart=\/usr\/bin\/env vitamin (.+)$/m.exec(unit)!
  checkServe(line!.split(" "))
  checkVariables(unit.match(/\b(VITAMIN_\w+|PGPASSWORD)\b/g)!)
  await using tmp = await tmpdir()
  const file = `${tmp.path}/vitamin.service`
  // The user and the folder of the example are not those of this machine.
  writeFileSync(file, unit.replace(/^User=.*$/m, "User=root"))
  const checked = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" })
  if (checked.error) return t.diagnostic("left out: systemd-analyze is not installed here")
  assert.doesNotMatch(checked.stderr, /vitamin\.service:\d+:|Unknown (key|lvalue|section)/)
})
