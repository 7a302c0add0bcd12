// The clock of the machine goes back between two prompts. The order comes from the messages, never from the clock.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { clockBy } from "../../fixture/clock-by.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const hour = 3_600_000
type Exported = { messages: { id: string; parentId: string | null; data: { parts?: { text: string }[] } }[] }

test("vitamin session revert undoes the last prompt when the clock went back before it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([...writing("first.txt"), ...writing("second.txt")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "--yes", "one"], variables)).code, 0)
  const back = { ...variables, ...clockBy(-hour) }
  assert.equal((await vitamin(tmp, ["run", "--yes", "--continue", "two"], back)).code, 0)
  const id = await lastSession(tmp)
  assert.match((await vitamin(tmp, ["session", "diff", id])).out, /first\.txt[\s\S]*second\.txt/)
  const reverted = await vitamin(tmp, ["session", "revert", id], clockBy(-2 * hour))
  assert.equal(reverted.out.split("\n")[0], "removed  second.txt")
  assert.equal(existsSync(join(tmp.path, "first.txt")), true)
  assert.equal(existsSync(join(tmp.path, "second.txt")), false)
  const [, undo = ""] = /To undo this: vitamin (.+)$/.exec(reverted.out) ?? []
  const again = await vitamin(tmp, undo.split(" "), clockBy(-3 * hour))
  assert.match(again.out, /restored {2}second\.txt/)
})

test("vitamin session revert undoes only the tasks of the last prompt when the clock went back before it", async () => {
  await using tmp = await tmpdir({ git: true })
  const task = (path: string) => [
    call("subtask", { task: `write ${path}` }),
    ...writing(path),
    text("All done."),
  ]
  await using llm = await fakeLlm([...task("first.txt"), ...task("second.txt")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "--yes", "one"], variables)).code, 0)
  const back = { ...variables, ...clockBy(-hour) }
  assert.equal((await vitamin(tmp, ["run", "--yes", "--continue", "two"], back)).code, 0)
  const reverted = await vitamin(tmp, ["session", "revert", await lastSession(tmp)], clockBy(-2 * hour))
  assert.deepEqual(reverted.out.match(/^(removed|restored).*$/gm), ["removed  second.txt"])
})

test("vitamin session export has the messages in the order of the conversation when the clock went back", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("a1"), text("a2"), text("a3")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "one"], variables)
  await vitamin(tmp, ["run", "--continue", "two"], { ...variables, ...clockBy(-hour) })
  await vitamin(tmp, ["run", "--continue", "three"], { ...variables, ...clockBy(-2 * hour) })
  const { out } = await vitamin(tmp, ["session", "export", await lastSession(tmp)])
  const { messages } = JSON.parse(out) as Exported
  const ids = messages.map((message) => message.id)
  assert.deepEqual(ids.toSorted(), ids, "ids sort behind those that they follow")
  const parents = messages.map(({ parentId }) => parentId)
  assert.deepEqual(parents, [null, ...ids.slice(0, -1)])
  assert.deepEqual(
    messages.map(({ data }) => data.parts?.[0]?.text),
    ["one", "a1", "two", "a2", "three", "a3"],
  )
})

test("vitamin session revert undoes what another branch did later when the clock went back before it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(["first.txt", "second.txt", "third.txt"].flatMap(writing))
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "--yes", "one"], variables)
  const id = await lastSession(tmp)
  const { messages: early } = JSON.parse((await vitamin(tmp, ["session", "export", id])).out) as Exported
  await vitamin(tmp, ["run", "--yes", "--continue", "two"], variables)
  const back = { ...variables, ...clockBy(-hour) }
  await vitamin(tmp, ["session", "branch", id, "other", "--from", early.at(-1)!.id], back)
  await vitamin(tmp, ["run", "--yes", "--continue", "three"], back)
  await vitamin(tmp, ["session", "branch", id, "main"], back)
  const reverted = await vitamin(tmp, ["session", "revert", id], back)
  assert.deepEqual(reverted.out.match(/^(removed|restored).*$/gm), [
    "removed  second.txt",
    "removed  third.txt",
  ])
})

test("vitamin run --continue takes the session that was used last when the clock went back", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("a1"), text("a2"), text("a3")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "of yesterday"], variables)
  await vitamin(tmp, ["run", "of today"], { ...variables, ...clockBy(-hour) })
  await vitamin(tmp, ["run", "--continue", "go on"], { ...variables, ...clockBy(-hour) })
  assert.match(JSON.stringify(llm.requests.at(-1)), /of today/)
})

function writing(path: string) {
  return [call("write", { path, content: `${path}\n` }), text("Done.")]
}

async function lastSession(tmp: Tmp): Promise<string> {
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  return (JSON.parse(out) as { id: string }[])[0]!.id
}
