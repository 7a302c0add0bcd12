// A revert that is killed at any point is finished by the next one, and can still be undone as a whole.
import assert from "node:assert/strict"
import { statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { type Child, run } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { command, differences, imageOf, inProject, revert, sessionId, sh } from "./harness.ts"

const files = 60
const script = join(import.meta.dirname, "revert-child.ts")

test("a revert that is killed converges on the next try", () =>
  inProject(async (tmp) => {
    for (let i = 0; i < files; i++) tmp.write(`d${i % 7}/f${i}`, `${i}\n`.repeat(3_000))
    const before = imageOf(tmp.path)
    let { messageId } = await command(
      "for f in d*/f*[02468]; do echo changed > $f; done; rm -r d1; for i in $(seq 20); do echo $i > n$i; done",
    )
    const after = imageOf(tmp.path)
    for (let round = 0; round < repeat(3, 50); round++) {
      const n = ((round * 7 + 3) % (files / 2)) * 2
      await killWhen(start(tmp.path, messageId), () => sizeOf(tmp.path, n) > 100)
      await using again = start(tmp.path, messageId)
      assert.equal(await again.exit, 0, again.errors())
      assert.deepEqual(differences(imageOf(tmp.path), before), [], `round ${round}`)
      const last = (await Snapshot.list(sessionId)).findLast(({ part }) => part.files.length > 0)
      messageId = (await revert(last!.messageId)).messageId
      assert.deepEqual(differences(imageOf(tmp.path), after), [], `round ${round}: undone again`)
    }
  }))

for (const paths of ["worktree", ["a.txt", "c.txt"]] as const)
  test(`a call (${paths}) whose process died is recovered, and a revert refuses changes that may be somebody else's`, () =>
    inProject(
      async (tmp) => {
        tmp.write("a.txt", "a")
        const call: Message.Call = { id: "call_1", name: "bash", arguments: {}, approval: "approved" }
        const message = { sessionId, parentId: null, type: "tool_request" as const, data: { calls: [call] } }
        const request = Message.make(message)
        await MessageStore.write(request)
        const about = { sessionId, messageId: request.id, callId: call.id, tool: "bash" }
        const places = paths === "worktree" ? paths : paths.map((name) => join(tmp.path, name))
        await Snapshot.take({ ...about, paths: places })
        sh("echo b > a.txt; echo c > c.txt")
        await Snapshot.recover(sessionId, () => undefined)
        await assert.rejects(revert(request.id), /not known who changed it/)
        await revert(request.id, { force: true })
        assert.deepEqual(Object.keys(imageOf(tmp.path)), ["README.md", "a.txt"])
        assert.match(imageOf(tmp.path)["a.txt"]!, / a$/)
      },
      { git: true },
    ))

function start(directory: string, messageId: string): Child {
  return run(process.execPath, [script, directory, messageId])
}

/** Kills the revert in the middle, unless it has already finished. */
async function killWhen(child: Child, isSo: () => boolean): Promise<void> {
  await using running = child
  await running.line(/^begin/)
  while (!isSo() && running.process.exitCode === null) await new Promise((resolve) => setImmediate(resolve))
  running.process.kill("SIGKILL")
  await running.exit
}

function sizeOf(root: string, n: number): number {
  return statSync(join(root, `d${n % 7}/f${n}`), { throwIfNoEntry: false })?.size ?? 0
}
