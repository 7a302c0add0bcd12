// A "/name" that no skill has: the person is told which one is like it, and the prompt goes on. Paths are no names.
import assert from "node:assert/strict"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir as systemTmp } from "node:os"
import { sep } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inWorld, type World } from "./harness.ts"

const noticesOf = ({ events }: World) =>
  events.flatMap(({ type, payload }) =>
    type === "session.notice" ? [payload as { messageId: string; text: string }] : [],
  )

function writeSkills(tmp: Tmp): void {
  for (const name of ["release-notes", "pdf", "etcd", "tmpfiles"])
    tmp.write(
      `skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: Does ${name}.\n---\nSECRET ${name}\n`,
    )
}

test("a misspelt /name brings a notice with the skill that is meant, once, and the prompt goes on", async () => {
  await inWorld([text("a"), text("b"), text("c")], async (world) => {
    const { ask, llm, messages, tmp } = world
    writeSkills(tmp)
    await ask("/relase-notes for 2.0")
    const [notice, ...more] = noticesOf(world)
    assert.equal(notice!.text, 'No skill is called "relase-notes". Did you mean "/release-notes"?')
    assert.deepEqual(more, [])
    assert.equal(notice!.messageId, (await messages())[0]!.id)
    assert.ok(JSON.stringify(llm.requests[0]!.body).includes("/relase-notes for 2.0"))
    await ask("  /PDF this")
    assert.equal(noticesOf(world).length, 1, "capitals are no misspelling")
    assert.ok(JSON.stringify(llm.requests[1]!.body).includes("SECRET pdf"))
    await ask("  /pfd")
    assert.equal(noticesOf(world)[1]!.text, 'No skill is called "pfd". Did you mean "/pdf"?')
  })
})

test("paths, and names that are like no skill's, bring no notice", async () => {
  const folder = mkdtempSync(`${systemTmp()}${sep}notice-`)
  const prompts = [
    "/etc/hosts has a wrong line",
    "/src/app.ts does not compile",
    "/etc is full",
    "/tmp",
    "/pdfs/2024.pdf",
    "/release-note.md is old",
    "/users gives 404",
    "//pdg",
    "/ pdg",
    "what does /relase-notes do",
    `${folder} is empty`,
    "/",
  ]
  try {
    await inWorld(
      prompts.map(() => text("ok")),
      async (world) => {
        writeSkills(world.tmp)
        for (const prompt of prompts) await world.ask(prompt)
        assert.deepEqual(
          noticesOf(world).map(({ text }) => text),
          [],
        )
      },
    )
  } finally {
    rmdirSync(folder)
  }
})

test("nothing is said where there are no skills, nor of the words that a model gives to another", async () => {
  await inWorld([text("a")], async (world) => {
    await world.ask("/relase-notes")
    assert.deepEqual(noticesOf(world), [])
  })
  await inWorld([call("subtask", { task: "/relase-notes" }), text("b"), text("c")], async (world) => {
    writeSkills(world.tmp)
    await world.ask("go", { rules: [Permission.parseRule("agent.delegate:*")] })
    assert.equal(world.llm.requests.length, 3)
    assert.deepEqual(noticesOf(world), [])
  })
})
