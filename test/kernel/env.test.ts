// The environment through one door.
import assert from "node:assert/strict"
import { afterEach, test } from "node:test"
import * as Env from "#kernel/env.ts"
import * as Secret from "#kernel/secret.ts"
import { run } from "../fixture/child.ts"

afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("ENV_TEST")) delete process.env[name]
})

test("Env.get() reads a variable as it is now, and undefined where there is none", () => {
  assert.equal(Env.get("ENV_TEST"), undefined)
  process.env.ENV_TEST = "one"
  assert.equal(Env.get("ENV_TEST"), "one")
  process.env.ENV_TEST = ""
  assert.equal(Env.get("ENV_TEST"), "")
})

test("Env.all() is a copy of everything", () => {
  process.env.ENV_TEST = "one"
  const all = Env.all()
  assert.deepEqual(all, { ...process.env })
  all.ENV_TEST = "two"
  assert.equal(process.env.ENV_TEST, "one")
})

test("Env.forChild() leaves out what holds one of our secrets, and a child never sees it", async () => {
  Secret.hold("env-secret-0123", "key")
  process.env.ENV_TEST_KEY = "env-secret-0123"
  process.env.ENV_TEST_HEADER = "Bearer env-secret-0123"
  process.env.ENV_TEST_LIKE = "env-secret-0124"
  const env = Env.forChild()
  assert.equal(Env.all().ENV_TEST_KEY, "env-secret-0123")
  for (const name of ["ENV_TEST_KEY", "ENV_TEST_HEADER"]) delete process.env[name]
  await using child = run(process.execPath, ["-e", "console.log(JSON.stringify(process.env))"], { env })
  const seen = JSON.parse(await child.line(/^{/))
  assert.equal(seen.ENV_TEST_LIKE, "env-secret-0124")
  assert.equal(seen.PATH, process.env.PATH)
  assert.equal("ENV_TEST_KEY" in seen || "ENV_TEST_HEADER" in seen, false)
})
