// The audit log: everything that a person did, with its result and without secrets.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Audit from "#edge/server/people/audit.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { socketClient } from "../../acp/socket-harness.ts"
import { onTeams } from "./harness.ts"

const lineOf = ({ person, action, target, result }: Audit.Entry) => `${person} ${action} ${target} ${result}`

onTeams(
  "what people did is listed with its target and result, and without bodies, queries and tokens",
  async (startTeam) => {
    await using team = await startTeam([text("Hello."), text("Hello again.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "reader")]
    const { id } = await ada.client.createSession({ title: "words-of-the-title" })
    await ada.client.promptSession({ id, text: "words-of-the-prompt" })
    await ada.client.listMessages({ id })
    await ada.client.listMessages({ id })
    assert.equal(await bob.status("POST", `/session/${id}/message`, { text: "me" }), 403)
    assert.equal(await bob.status("GET", `/session/${id}?secret=words-of-the-query`), 404)
    assert.equal(await bob.status("GET", "/audit"), 403)
    await team.owner.client.storeKey({ id: "groq", key: "gsk-words-of-the-key" })
    const file = team.tmp.write("token-of-ada", ada.token!)
    await using socket = await socketClient({ url: team.url, tokenFile: file })
    const { sessionId } = await socket.open(team.tmp.path)
    await socket.prompt(sessionId, "words-of-the-editor")
    assert.equal((await vitamin(team.tmp, ["session", "share", id, "bob"])).code, 0)

    const expected = [
      "owner createToken /token 200",
      `ada createSession /session 200`,
      `ada promptSession /session/${id}/message 200`,
      `ada listMessages /session/${id}/message 200`,
      `bob promptSession /session/${id}/message 403`,
      `bob getSession /session/${id} 404`,
      "bob listAudit /audit 403",
      "owner storeKey /provider/groq/key 200",
      `ada acp session/new ${team.tmp.path} ok`,
      `ada acp session/prompt ${sessionId} ok`,
      `owner session share ${id} ok`,
    ]
    let lines: string[] = []
    await until(async () => {
      lines = (await team.owner.client.listAudit({ limit: "1000" })).map(lineOf)
      return expected.every((line) => lines.includes(line))
    }, "all entries")
    // The same reading within a minute counts once.
    assert.equal(lines.filter((line) => line.startsWith("ada listMessages")).length, 1)
    const whole = JSON.stringify(await team.owner.client.listAudit({ limit: "1000" }))
    assert.doesNotMatch(whole, /words-of/)
    for (const { token } of [ada, bob, team.owner]) assert.ok(!whole.includes(token!.slice(-20)))

    const since = String(Date.now() - 60_000)
    const ofBob = await team.owner.client.listAudit({ person: "bob", since })
    assert.ok(ofBob.length >= 3 && ofBob.every(({ person }) => person === "bob"))
    assert.deepEqual(await team.owner.client.listAudit({ since: "9".repeat(15) }), [])
    assert.deepEqual(await team.owner.client.listAudit({ until: "1" }), [])
    const one = await vitamin(team.tmp, ["audit", "--person", "bob", "--limit", "1", "--format", "json"])
    assert.deepEqual(
      JSON.parse(one.out).map(({ person }: Audit.Entry) => person),
      ["bob"],
    )
    const shown = await vitamin(team.tmp, ["audit", "--since", "2020-01-31"])
    assert.match(shown.out, /^\S+Z {2}ada {2}createSession {2}\/session {2}200$/m)
    assert.notEqual((await vitamin(team.tmp, ["audit", "--since", "yesterday"])).code, 0)
  },
)

onTeams("the owner alone leaves no entries", async (startTeam) => {
  await using team = await startTeam()
  await team.owner.client.createSession()
  assert.deepEqual(await team.owner.client.listAudit({}), [])
  assert.deepEqual(await Storage.list(["audit"]), [])
})

test("the log is bounded: the oldest records go first", async () => {
  await using _ = await tmpdir()
  const old = { time: 1, person: "ada", action: "old", target: "", result: "200" }
  const names = Array.from({ length: 2_000 }, (_, n) => `audit_${String(n).padStart(5, "0")}`)
  await Promise.all(names.map((name) => Storage.write(["audit", name], { entries: [old] })))
  const { record } = Audit.createAudit()
  const person = { name: "ada" }
  await Promise.all(
    Array.from({ length: 250 }, (_, n) => record({ person, action: "new", target: `/${n}`, result: "200" })),
  )
  const left = await Storage.list(["audit"])
  assert.equal(left.length, 2_000)
  assert.equal(left[0], names[3])
  const entries = await Audit.list({ limit: 10_000 })
  assert.equal(
    new Set(entries.filter(({ action }) => action === "new").map(({ target }) => target)).size,
    250,
  )
  await Storage.close()
})

test("a damaged record hides no others, and two processes add without losing entries", async () => {
  await using tmp = await tmpdir({ git: true })
  await Storage.write(["audit", "audit_0"], { entries: [{ nonsense: true }, 5] })
  await Storage.write(["audit", "audit_1"], {})
  await Storage.close()
  await Promise.all(["ada", "bob"].map((name) => vitamin(tmp, ["token", "add", name, "--role", "reader"])))
  const { out } = await vitamin(tmp, ["audit", "--format", "json"])
  assert.deepEqual(JSON.parse(out).map(lineOf).sort(), ["owner token add ada ok", "owner token add bob ok"])
})
