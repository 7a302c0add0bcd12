import assert from "node:assert/strict"
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Provider from "#ability/provider/provider.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { inInstance, partsOf } from "../harness.ts"

const file = () => join(Global.data(), "auth.json")

test("Provider.auth() takes the key of the configuration, then the environment, then a login", async () => {
  const variables = { GEMINI_API_KEY: " from-environment \n" }
  const config = { provider: { google: { apiKey: "from-config-1" } } }
  await inInstance({ variables, config }, async () => {
    await Provider.login("google", "from-login-123")
    assert.deepEqual(await Provider.auth("google"), { apiKey: "from-config-1", source: "config" })
  })
  await inInstance({ variables }, async () => {
    await Provider.login("google", "from-login-123")
    assert.deepEqual(await Provider.auth("google"), {
      apiKey: "from-environment",
      source: "environment",
      variable: "GEMINI_API_KEY",
    })
  })
  await inInstance({ variables: { GEMINI_API_KEY: "" } }, async () => {
    await Provider.login("google", "from-login-123")
    assert.deepEqual(await Provider.auth("google"), {
      apiKey: "from-login-123",
      source: "login",
      variable: "GOOGLE_GENERATIVE_AI_API_KEY",
    })
    assert.deepEqual(await Provider.auth("openai"), { source: "none", variable: "OPENAI_API_KEY" })
    await assert.rejects(Provider.auth("gogle"), { name: "Provider.UnknownProvider" })
  })
})

test("the credentials of Provider.auth() are those that a request carries", async () => {
  await using llm = await fakeLlm([text("a"), text("b")])
  await inInstance({ variables: { ANTHROPIC_BASE_URL: llm.url } }, async () => {
    await Provider.login("anthropic", "sk-ant-first-123456")
    await partsOf(await Provider.getModel("anthropic", "any"))
    await Provider.login("anthropic", "sk-ant-second-12345")
    await partsOf(await Provider.getModel("anthropic", "any"))
  })
  assert.deepEqual(
    llm.requests.map(({ headers }) => headers["x-api-key"]),
    ["sk-ant-first-123456", "sk-ant-second-12345"],
  )
})

test("Provider.login() stores a key in a file that only its owner can read, Provider.logout() removes it", async () => {
  await inInstance({}, async () => {
    await Promise.all([
      Provider.login("anthropic", " sk-ant-0123456789\n"),
      Provider.login("openai", "sk-0123456789"),
    ])
    assert.equal(statSync(file()).mode & 0o777, 0o600)
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(file(), "utf8"))).sort(), ["anthropic", "openai"])
    assert.equal(Secret.reveals("sk-ant-0123456789"), true)
    assert.equal(await Provider.logout("openai"), true)
    assert.equal(await Provider.logout("openai"), false)
    assert.doesNotMatch(readFileSync(file(), "utf8"), /sk-0123456789/)
    assert.deepEqual(
      readdirSync(Global.data()).filter((name) => /^auth\.json\./.test(name)),
      [],
    )
  })
})

test("Provider.login() refuses invalid keys and unknown providers", async () => {
  await inInstance({}, async () => {
    for (const key of ["", "two words", "line\nbreak", "ключ"])
      await assert.rejects(Provider.login("openai", key), { name: "Provider.InvalidKey" })
    await assert.rejects(Provider.login("opnai", "sk-0123456789"), { name: "Provider.UnknownProvider" })
    assert.equal(existsSync(file()), false)
  })
})

test("logins that others could read are closed; links and foreign content are refused", async () => {
  await inInstance({}, async (path) => {
    await Provider.login("openai", "sk-0123456789")
    chmodSync(file(), 0o644)
    assert.equal((await Provider.auth("openai")).source, "login")
    assert.equal(statSync(file()).mode & 0o777, 0o600)
    writeFileSync(file(), "{ broken sk-0123456789")
    await assert.rejects(Provider.auth("openai"), (error: Error) => {
      assert.equal(error.name, "Provider.UnsafeLogins")
      assert.doesNotMatch(error.message, /sk-/)
      return true
    })
    const target = join(path, "elsewhere.json")
    writeFileSync(target, "{}")
    rmSync(file())
    symlinkSync(target, file())
    await assert.rejects(Provider.login("openai", "sk-0123456789"), { name: "Provider.UnsafeLogins" })
    assert.equal(readFileSync(target, "utf8"), "{}")
  })
})
