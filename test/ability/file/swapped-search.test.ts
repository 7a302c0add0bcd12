// While a folder is searched, a file or a folder in it is swapped for a link and back, as fast as possible. The
// target of the link is never shown, whether it is outside of the workspace or denied by the rules.
import assert from "node:assert/strict"
import { test } from "node:test"
import { judgeStep } from "#ability/call/judge-step.ts"
import type { Action } from "#ability/permission/permission.ts"
import type { Slots } from "#ability/tool/run-tool.ts"
import type { Json, Need } from "#ability/tool/tool.ts"
import { run } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { call, inProject } from "../tool/harness.ts"

/** No folder can take the place of a link in one step; there is nothing at the name for a moment. Now and then it rests,
 * so that the folder is found as well. */
const swaps = {
  file: `
  for (;;) {
    symlinkSync(secret, path + ".next")
    renameSync(path + ".next", path)
    writeFileSync(path + ".next", "the inside\\n")
    renameSync(path + ".next", path)
  }`,
  folder: `
  for (let n = 1; ; n++) {
    renameSync(path, aside)
    symlinkSync(secret, path)
    unlinkSync(path)
    renameSync(aside, path)
    if (n % 2000 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
  }`,
}
const script = (kind: keyof typeof swaps) => `
  const { renameSync, symlinkSync, unlinkSync, writeFileSync } = require("node:fs")
  const [path, secret, aside] = process.argv.slice(1)
  console.log("swapping")
  ${swaps[kind]}`

/** As a session does it: the paths are judged by where they lead, and nothing else may be opened by them. */
const slots: Slots = {
  async permit(step) {
    const decide = ({ target }: Need) => ({ action: actionFor(target) })
    const { needs, reals } = await judgeStep(step, decide)
    const isDenied = needs.some(({ action }) => action === "deny")
    return isDenied ? { message: "denied" } : { granted: [], reals, judge: ({ target }) => actionFor(target) }
  },
}
const actionFor = (target: string): Action => (target.includes("/denied") ? "deny" : "allow")

const searches: [name: string, args: Json, kinds: (keyof typeof swaps)[]][] = [
  ["grep", { pattern: "the", path: "folder" }, ["file", "folder"]],
  ["glob", { pattern: "**/*.txt", path: "folder" }, ["file", "folder"]],
  ["ls", { path: "folder/sub" }, ["file", "folder"]],
]
for (const place of ["../outside", "denied"])
  for (const [name, args, kinds] of searches)
    for (const kind of kinds)
      test(`${name} ${JSON.stringify(args)} shows nothing of ${place} while a ${kind} is swapped for a link`, {
        timeout: 900_000,
      }, async () => {
        await inProject(async (tmp) => {
          const file = tmp.write("folder/sub/swapped.txt", "the inside\n")
          tmp.write("folder/stable.txt", "the stable\n")
          const secret = tmp.write(`${place}/swapped.txt`, "the SECRET\n")
          const other = tmp.write(`${place}/SECRET.txt`, "the SECRET\n")
          const paths =
            kind === "file"
              ? [file, other]
              : [file, secret].map((path) => path.replace(/\/swapped\.txt$/, ""))
          await using child = run(process.execPath, ["-e", script(kind), ...paths, `${tmp.path}/aside`])
          await child.line(/swapping/)
          const seen = new Set<boolean>()
          for (let n = 0; n < repeat(15, 1_000) || (n < 20_000 && !seen.has(true)); n++) {
            const { text, title } = await call(name, args, { slots })
            // A link that ls meets is shown with where it leads, which stands in the workspace.
            const shown = `${text}\n${title}`.replaceAll(/ -> .*$/gm, "")
            assert.doesNotMatch(shown, /SECRET/, `try ${n}`)
            seen.add(/swapped\.txt/.test(shown))
          }
          assert.ok(seen.has(true), "it was found where it is")
        })
      })
