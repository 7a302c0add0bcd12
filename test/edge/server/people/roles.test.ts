// What each role may call: every route of the running servers, from their own documents.
import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import * as PersonalToken from "#edge/server/people/personal-token.ts"
import { Role } from "#kernel/person.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { onTeams } from "./harness.ts"

type Operation = { operationId: string; security: { bearer?: [Role] }[] }
type Row = { id: string; method: string; path: string; role: Role | "open" }

/** The routes of a server by its document. */
async function table(url: string, token: string): Promise<Row[]> {
  const response = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId: id, security }]) => ({
      id,
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, "nope"),
      role: security.length === 0 ? ("open" as const) : security[0]!.bearer![0],
    })),
  )
}

/** The status of a route, and whether the role was refused. Streams are left at once. */
async function ask(url: string, row: Row, token?: string) {
  const leaving = new AbortController()
  const response = await fetch(url + row.path, {
    method: row.method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(["POST", "PUT", "PATCH"].includes(row.method) ? { body: "{}" } : {}),
    signal: leaving.signal,
  })
  const isText = /json/.test(response.headers.get("content-type") ?? "")
  const name = isText ? JSON.stringify(await response.json()) : ""
  leaving.abort()
  return { status: response.status, isForbidden: name.includes('"Server.Forbidden"') }
}

async function walk(url: string, rows: Row[], tokens: Record<string, string | undefined>): Promise<void> {
  for (const row of rows) {
    for (const who of ["nobody", "revoked", "expired", "wrong"]) {
      const { status } = await ask(url, row, tokens[who])
      if (row.role === "open") assert.ok(status !== 401, `${row.id} for ${who}: ${status}`)
      else assert.equal(status, 401, `${row.id} for ${who}`)
    }
    for (const role of Role.options) {
      const { status, isForbidden } = await ask(url, row, tokens[role])
      const may = row.role === "open" || Role.options.indexOf(role) >= Role.options.indexOf(row.role)
      assert.equal(isForbidden, !may, `${row.id} for a ${role}: ${status}`)
      assert.ok(may ? status !== 401 : status === 403, `${row.id} for a ${role}: ${status}`)
    }
  }
}

onTeams(
  "every route refuses no token, wrong, revoked and expired ones, and roles below its own",
  async (startTeam) => {
    await using team = await startTeam()
    const { owner } = team
    const rows = await table(team.url, owner.token!)
    assert.ok(rows.length > 75, String(rows.length))
    const [reader, member, admin] = [
      await team.add("rita", "reader"),
      await team.add("max", "member"),
      await team.add("ada", "admin"),
    ]
    const expires = Date.now() + 3_000
    const [revoked, expired] = [await team.add("rex", "admin"), await team.add("eve", "admin", { expires })]
    assert.equal(await revoked.status("GET", "/session"), 200)
    await owner.client.removeToken({ name: "rex" })
    await until(() => Date.now() > expires, "the end of a token")
    const { token } = admin
    await walk(team.url, rows, {
      nobody: undefined,
      wrong: `${token!.slice(0, -1)}${token!.endsWith("A") ? "B" : "A"}`,
      revoked: revoked.token,
      expired: expired.token,
      reader: reader.token,
      member: member.token,
      admin: admin.token,
    })
    // The audit log has every change that anybody tried, also those that were refused.
    const entries = await owner.client.listAudit({ limit: "10000" })
    const noted = new Set(entries.map(({ person, action }) => `${person} ${action}`))
    const missing = rows
      .filter(({ role, method }) => role !== "open" && method !== "GET")
      .flatMap(({ id }) => ["rita", "max", "ada"].map((name) => `${name} ${id}`))
      .filter((line) => !noted.has(line))
    assert.deepEqual(missing, [])

    const named = (fits: (row: Row) => boolean) =>
      rows
        .filter(fits)
        .map(({ id }) => id)
        .sort()
    assert.deepEqual(
      named(({ role }) => role === "open"),
      ["getHealth", "signInBrowser"],
    )
    // A reader changes nothing but their own browsers.
    assert.deepEqual(
      named(({ role, method }) => role === "reader" && method !== "GET"),
      ["createBrowserCode", "signOutBrowser"],
    )
    assert.deepEqual(
      named(({ role }) => role === "admin"),
      [
        ...[
          "cancelMcpLogin",
          "cancelProviderLogin",
          "connectMcpServer",
          "createToken",
          "disconnectMcpServer",
        ],
        ...["listAudit", "listTokens", "listUntrusted", "removeToken", "saveFirstChoice", "startMcpLogin"],
        ...["startProviderLogin", "storeKey", "trustFiles", "waitForMcpLogin", "waitForProviderLogin"],
      ],
    )
  },
)

test("the servers of A2A and MCP have the same roles", async () => {
  for (const [args, path] of [
    [["a2a", "serve"], "/a2a"],
    [["mcp", "serve", "--http"], "/mcp"],
  ] as const) {
    await using tmp = await tmpdir({ git: true })
    const made = await Promise.all(
      Role.options.map(async (role) => [role, (await PersonalToken.create({ name: role, role })).token]),
    )
    const lapsed = await PersonalToken.create({ name: "old", role: "admin", expires: Date.now() - 1 })
    const gone = await PersonalToken.create({ name: "gone", role: "admin" })
    await PersonalToken.remove("gone")
    await using child = startVitamin(tmp, [...args, "--port", "0"])
    const [, url] = /on (http:\S+?)\/\w+ \(token/.exec(await child.line(/listening/))!
    const tokens = { ...Object.fromEntries(made), expired: lapsed.token, revoked: gone.token, wrong: "wrong" }
    const rows = await table(url!, tokens.admin)
    assert.ok(rows.some((row) => row.path === path && row.role === "member"))
    await walk(url!, rows, tokens)
  }
})

onTeams("a token in the query, in another header or of another scheme is no token", async (startTeam) => {
  await using team = await startTeam()
  const max = await team.add("max", "member")
  const nobody = team.as(undefined)
  const { token } = max
  for (const query of [`?token=${token}`, `?access_token=${token}`, `?authorization=Bearer%20${token}`])
    assert.equal(await nobody.status("GET", `/session${query}`), 401, query)
  const others: Record<string, string>[] = [
    { "x-vitamin-token": token! },
    { "x-api-key": token! },
    { authorization: `Basic ${Buffer.from(`max:${token}`).toString("base64")}` },
    { "x-forwarded-user": "ada", "x-remote-user": "ada" },
  ]
  for (const headers of others)
    assert.equal(await nobody.status("GET", "/session", undefined, headers), 401, JSON.stringify(headers))
  // A header cannot raise the role.
  const raised = { "x-vitamin-person": "ada", "x-vitamin-role": "admin", "x-forwarded-user": "owner" }
  assert.equal(await max.status("GET", "/token", undefined, raised), 403)
  assert.equal(await nobody.status("GET", "/session", undefined, { cookie: `vitamin_token=${token}` }), 200)
})

test("vitamin token adds, lists and removes; the token is shown once, and only its hash is stored", async () => {
  await using tmp = await tmpdir({ git: true })
  const added = await vitamin(tmp, ["token", "add", "ada", "--role", "member", "--expires", "30d"])
  assert.equal(added.code, 0, added.err)
  assert.match(added.out, /^vitamin_ada_[\w-]{43}$/)
  const listed = await vitamin(tmp, ["token", "list", "--format", "json"])
  const [ada] = JSON.parse(listed.out)
  assert.deepEqual([ada.name, ada.role, "hash" in ada], ["ada", "member", false])
  const secret = added.out.slice("vitamin_ada_".length)
  const files = globSync("**/*", { cwd: dirname(tmp.path), withFileTypes: true }).filter((one) =>
    one.isFile(),
  )
  assert.ok(
    files.some(({ name }) => name.startsWith("ada")),
    "the record is there",
  )
  for (const { parentPath, name } of files)
    assert.ok(!readFileSync(join(parentPath, name)).includes(secret), `${parentPath}/${name}`)
  assert.equal((await vitamin(tmp, ["token", "add", "ada", "--role", "admin"])).code, 1)
  for (const name of ["owner", "Ada", "../x", "a/b", "a_b", "-x", "x".repeat(64), ""])
    assert.notEqual((await vitamin(tmp, ["token", "add", name, "--role", "member"])).code, 0, name)
  assert.notEqual((await vitamin(tmp, ["token", "add", "bob", "--role", "root"])).code, 0)
  // Two processes at once: one of them creates the token.
  const twice = await Promise.all(
    ["reader", "member"].map((role) => vitamin(tmp, ["token", "add", "bob", "--role", role])),
  )
  assert.deepEqual(twice.map(({ code }) => code).sort(), [0, 1])
  assert.equal((await vitamin(tmp, ["token", "remove", "bob"])).code, 0)
  assert.equal((await vitamin(tmp, ["token", "remove", "ada"])).code, 0)
  assert.equal((await vitamin(tmp, ["token", "remove", "ada"])).code, 1)
  assert.equal((await vitamin(tmp, ["token", "list", "--format", "json"])).out, "[]")
})

test("a command of the model cannot create a token", async () => {
  await using tmp = await tmpdir({ git: true })
  const inside = { VITAMIN_CALL: "call_1" }
  const { code, err } = await vitamin(tmp, ["token", "add", "evil", "--role", "admin"], inside)
  assert.equal(code, 1)
  assert.match(err, /A command that vitamin runs cannot change tokens/)
})
