// A secret that a rule shows to one session stays redacted in the others of the same process.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { call, type Request, text } from "../../fixture/fake-llm.ts"
import { inWorld } from "./harness.ts"

const value = "shown-in-one-session-only-1"
const rules = ["secret.use:token", "secret.show:token", "bash.execute:*", "file.read:*"].map((rule) =>
  Permission.parseRule(rule),
)
const steps = {
  set: call("secrets_set", { name: "token", from: { file: "given" } }),
  show: call("secrets_use", { name: "token", show: true }),
  print: call("secrets_use", { name: "token", env: "APP_TOKEN", command: "printenv APP_TOKEN" }),
}

test("a shown secret is redacted in other sessions and in logs, and again where it was shown when that ends", async () => {
  const script = ({ messages }: Request) => {
    const last = messages.at(-1)!
    return last.results.length
      ? text(`got ${JSON.stringify(last.results)}`)
      : steps[last.text as keyof typeof steps]
  }
  await inWorld(
    script,
    async ({ tmp, ask, session, llm }) => {
      tmp.write("given", value)
      const other = await Session.create()
      const said = async (what: keyof typeof steps, sessionId: string) => {
        await ask(what, { sessionId, agent: "vault", rules, asks: "deny" })
        return llm.requests.at(-1)!.raw
      }
      await said("set", session.id)
      assert.ok(!(await said("print", session.id)).includes(value))
      assert.ok((await said("show", session.id)).includes(value))
      assert.ok(
        (await said("print", session.id)).split(value).length > 2,
        "the session sees it in outputs too",
      )
      assert.match(await said("print", other.id), /\[secret token\]/)
      assert.ok(!llm.requests.at(-1)!.raw.includes(value))
      await Secret.inSession(session.id, async () => Log.warn(`it is ${value}`))
      const log = readFileSync(join(tmp.path, "..", "log"), "utf8")
      assert.ok(log.includes("it is [secret token]") && !log.includes(value))
      assert.equal(Secret.redact(value), "[secret token]")
      await Session.remove(session.id)
      assert.equal(
        Secret.inSession(session.id, () => Secret.redact(value)),
        "[secret token]",
      )
    },
    { variables: { VITAMIN_VAULT_PASSPHRASE: "correct horse battery" } },
  )
})
