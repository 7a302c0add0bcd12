// The tools for secrets through the gate: names, values, where a value may go, and what is redacted.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import type { Result } from "#ability/tool/run-tool.ts"
import { secretsUse } from "#ability/vault/use-secret.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { call } from "../tool/harness.ts"
import { inVault, readVault, store, use } from "./vault.ts"

const value = "value-0123456789-abcdef"

test("secrets are stored, listed without their values, replaced on request only, and removed", async () => {
  await inVault(async (tmp) => {
    assert.equal((await use("secrets_list")).text, "The vault is empty.")
    assert.equal((await store(tmp, "constructor", value)).text, "The secret constructor is stored, 23 bytes.")
    const list = await use("secrets_list")
    assert.match(list.text, /^constructor: secret, 23 bytes, created \d{4}-\d\d-\d\dT\S+Z$/)
    assert.ok(!JSON.stringify(list).includes(value) && !readVault(tmp).includes("constructor"))
    const from = { file: "given-constructor" }
    assert.match((await use("secrets_set", { name: "constructor", from })).text, /has "constructor" already/)
    assert.match((await use("secrets_set", { name: "constructor", from, replace: true })).text, /is replaced/)
    assert.match((await use("secrets_remove", { name: "constructer" })).text, /Did you mean constructor\?/)
    assert.match((await use("secrets_remove", { name: "constructor" })).text, /is removed/)
    assert.equal((await use("secrets_list")).text, "The vault is empty.")
  })
})

test("odd names and values that cannot be kept are refused", async () => {
  await inVault(async (tmp) => {
    for (const name of [
      "",
      ".x",
      "-x",
      "_x",
      "a b",
      "a/b",
      "../a",
      "a:b",
      "a*",
      "ä",
      "a\nb",
      "a\0",
      "x".repeat(101),
    ]) {
      const result = await use("secrets_set", { name, from: { env: "HOME" } })
      assert.equal(result.status, "error", JSON.stringify(name))
      assert.match(result.text, /letters, digits/)
    }
    assert.match((await store(tmp, "short", "1234567")).text, /shorter than 8 characters/)
    assert.match(
      (await store(tmp, "large", "x".repeat(32_769))).text,
      /32769 bytes; the vault takes up to 32768/,
    )
    assert.match((await store(tmp, "huge", "x".repeat(200_000))).text, /has 200000 bytes, too many/)
    assert.match(
      (await store(tmp, "binary", Buffer.from([1, 2, 0xff, 3, 4, 5, 6, 7, 8]))).text,
      /is not text/,
    )
    assert.match((await store(tmp, "nul", "value\0with-nul")).text, /is not text/)
    assert.match(
      (await use("secrets_set", { name: "none" })).text,
      /nobody typed a value.*vitamin vault set none/,
    )
    assert.match((await use("secrets_set", { name: "a", value: "x" })).text, /value/)
    assert.match(
      (await use("secrets_set", { name: "a", from: { env: "NOT_SET_AT_ALL" } })).text,
      /is not set/,
    )
    for (let i = 0; i < 23; i++) await store(tmp, `many-${i}`, `${i}`.padEnd(32_000, "y"))
    assert.match((await store(tmp, "many-23", "z".repeat(32_000))).text, /would be larger than 1000000 bytes/)
    assert.equal((await use("secrets_list")).text.split("\n").length, 23)
  })
})

test("keys, tokens and the passphrase of vitamin itself are not taken", async () => {
  await inVault(async () => {
    process.env.OWN_PROVIDER = "own-provider-key-0123"
    Secret.register(process.env.OWN_PROVIDER, "provider key")
    for (const [env, says] of [
      ["VITAMIN_VAULT_PASSPHRASE", /The variable "VITAMIN_VAULT_PASSPHRASE" is one of vitamin itself/],
      ["OWN_PROVIDER", /The value is a key, token or passphrase of vitamin itself/],
    ] as const)
      assert.match((await use("secrets_set", { name: "own", from: { env } })).text, says)
    delete process.env.OWN_PROVIDER
  })
})

test("a secret that was shown is redacted again after it is replaced or removed", async () => {
  await inVault(async (tmp) => {
    const print = async (name: string) =>
      (await use("secrets_use", { name, env: "APP_TOKEN", command: "printenv APP_TOKEN" })).text
    await store(tmp, "shown", value)
    assert.equal((await use("secrets_use", { name: "shown", show: true })).text, value)
    assert.equal((await print("shown")).trim(), value)
    const next = "next-value-0123456789"
    tmp.write("next", next)
    const from = { file: "next" }
    assert.match((await use("secrets_set", { name: "shown", from, replace: true })).text, /is replaced/)
    assert.equal((await print("shown")).trim(), "[secret shown]")
    assert.equal((await use("secrets_use", { name: "shown", show: true })).text, next)
    await use("secrets_remove", { name: "shown" })
    await use("secrets_set", { name: "shown", from })
    assert.equal((await print("shown")).trim(), "[secret shown]")
  })
})

test("a command gets a secret in a variable that is named like a credential, and in no other", async () => {
  await inVault(async (tmp) => {
    await store(tmp, "token", value)
    const ran = await use("secrets_use", {
      name: "token",
      env: "APP_TOKEN",
      command:
        'test "$APP_TOKEN" = value-0123456789-abcdef && echo "same: $APP_TOKEN"; env | grep -c PASSPHRASE; exit 3',
    })
    assert.equal(ran.text, "same: [secret token]\n0\n[exit code 3]")
    for (const env of [
      "PATH",
      "LD_PRELOAD",
      "NODE_OPTIONS",
      "BASH_ENV",
      "GIT_SSH_COMMAND",
      "SSH_ASKPASS",
      "A-B",
      "PIP_INDEX_URL",
    ])
      assert.match(
        (await use("secrets_use", { name: "token", env, command: "true" })).text,
        /like a credential/,
      )
    for (const env of ["GITHUB_TOKEN", "PGPASSWORD", "DB_PASS", "DATABASE_URL", "AWS_ACCESS_KEY_ID"])
      assert.equal((await use("secrets_use", { name: "token", env, command: "true" })).status, "success")
    assert.match(
      (await use("secrets_use", { name: "tokens", env: "A_TOKEN", command: "true" })).text,
      /mean token\?/,
    )
  })
})

test("secrets_use needs secret.use of the name, and what its command or address needs", () => {
  const needs = (args: object) =>
    secretsUse.permission({ name: "a", ...args }).map(({ permission, target }) => `${permission}:${target}`)
  assert.deepEqual(needs({ command: "ls", env: "A_KEY" }), ["secret.use:a", "bash.execute:ls"])
  assert.deepEqual(needs({ url: "HTTPS://Example.com/x/../y", header: "x" }), [
    "secret.use:a",
    "network.fetch:https://example.com/y",
  ])
  assert.deepEqual(needs({ show: true }), ["secret.use:a", "secret.show:a"])
})

test("a header with a secret goes to https or this machine only, and follows no redirect to another origin", async (t) => {
  const seen: (string | undefined)[] = []
  const answer = (to?: () => string) =>
    createServer((request, response) => {
      seen.push(request.headers["x-key"] as string | undefined)
      if (to && request.url === "/go") response.writeHead(302, { location: to() }).end()
      else response.end(`got ${request.headers["x-key"]}`)
    }).listen(0, "127.0.0.1")
  const last = answer()
  const originOf = (one: typeof last) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`
  const first = answer(() => `${originOf(last)}/end`)
  t.after(() => [first, last].map((server) => server.close()))
  await Promise.all([once(first, "listening"), once(last, "listening")])
  await inVault(async (tmp) => {
    await store(tmp, "key", value)
    const get = (url: string, more: object = {}): Promise<Result> =>
      call(
        "secrets_use",
        { name: "key", url, header: "X-Key", ...more },
        {
          slots: { permit: () => ({ granted: [originOf(first), originOf(last)] }) },
        },
      )
    assert.equal((await get(`${originOf(first)}/stay`, { prefix: "Key " })).text, "got Key [secret key]")
    assert.equal((await get(`${originOf(first)}/go`)).text, "got undefined")
    assert.deepEqual(seen, [`Key ${value}`, value, undefined])
    for (const url of [
      "http://example.com/",
      "ftp://example.com",
      "http://127.evil.example/",
      "https://u:p@example.com",
    ])
      assert.match((await get(url)).text, /expected an https URL/)
    for (const header of ["Host", "content-length", "Proxy-Authorization", "a b", "a\r\nb"])
      assert.equal((await get(originOf(first), { header })).status, "error")
    await store(tmp, "lines", "-----BEGIN-----\nabcdefgh12345678abcd\n")
    assert.match((await get(originOf(first), { name: "lines" })).text, /cannot be in a header/)
  })
})
