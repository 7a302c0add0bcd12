// A "/name" at the start of a prompt: a skill, a prompt of a server, or refused. Paths are not names.
import assert from "node:assert/strict"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir as systemTmp } from "node:os"
import { sep } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inWorld } from "../session/harness.ts"

function writeSkills(tmp: Tmp): void {
  for (const name of ["release-notes", "pdf", "etcd", "tmpfiles"])
    tmp.write(
      `skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: Does ${name}.\n---\nSECRET ${name}\n`,
    )
}

test("Session.prompt() refuses an unknown /name, lists the known ones and the nearest, and asks no model", async () => {
  await inWorld([text("a")], async ({ ask, llm, messages, status, session, tmp }) => {
    await assert.rejects(ask("/relase-notes"), { message: /This folder has no commands/ })
    writeSkills(tmp)
    await assert.rejects(ask("/relase-notes for 2.0"), {
      name: "Session.UnknownCommand",
      message:
        'There is no command "/relase-notes". Did you mean "/release-notes"? ' +
        "Commands here: /etcd, /pdf, /release-notes, /tmpfiles. To send it as text, put a word before it.",
    })
    await assert.rejects(Session.accept({ sessionId: session.id, text: " /help" }), /no command "\/help"/)
    assert.deepEqual(await Session.prompts(session.id), [])
    assert.deepEqual([await messages(), llm.requests, await status()], [[], [], "idle"])
    await ask("  /PDF this")
    assert.ok(JSON.stringify(llm.requests[0]!.body).includes("SECRET pdf"), "capitals are no misspelling")
  })
})

test("Session.prompt() takes paths and unusual names after a slash as text", async () => {
  const folder = mkdtempSync(`${systemTmp()}${sep}notice-`)
  const prompts = [
    "/usr/bin/ls fails",
    "/etc/hosts has a wrong line",
    "/src/app.ts does not compile",
    "/etc is full",
    "/tmp",
    "/skills is a folder of this project",
    "/pdfs/2024.pdf",
    "/release-note.md is old",
    "/404 is what I see",
    "//pdg",
    "/ pdg",
    "what does /relase-notes do",
    `${folder} is empty`,
    "/",
  ]
  try {
    await inWorld(
      () => text("ok"),
      async ({ ask, llm, tmp }) => {
        writeSkills(tmp)
        for (const [i, prompt] of prompts.entries()) {
          await ask(prompt)
          assert.ok(
            llm.requests[i]!.messages.some((one) => one.text.includes(prompt)),
            prompt,
          )
        }
      },
    )
  } finally {
    rmdirSync(folder)
  }
})

test("Session.prompt() does not expand /name in the prompt of a subtask", async () => {
  await inWorld([call("subtask", { task: "/relase-notes" }), text("b"), text("c")], async (world) => {
    writeSkills(world.tmp)
    await world.ask("go", { rules: [Permission.parseRule("agent.delegate:*")] })
    assert.equal(world.llm.requests.length, 3)
  })
})
