// Guards of a prompt in the sandbox judge its calls inside: those of the configuration and those of the project in TypeScript.
import assert from "node:assert/strict"
import { test } from "node:test"
import { whyNot } from "../../ability/sandbox/world.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const ownGuard = `import { bSync, bThread } from "vitamin/behavioral"
export default { because: "nobody has looked", thread: bThread([bSync({ block: "bash:git push*", waitFor: "ls.done" })]) }
`
const guards = {
  noted: { when: "write.done:src/**", block: "answer", until: "write.done:NOTES.md", because: "no notes" },
}

test("guards hold back calls and the answer inside the sandbox, and guard explain lists them", {
  skip: whyNot("user") ?? false,
}, async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/guards/no-push.ts", ownGuard)
  const push = call("bash", { command: "git push nowhere" })
  const write = (path: string) => call("write", { path, content: "x\n" })
  await using llm = await fakeLlm([
    ...[push, call("ls"), push],
    ...[write("src/a.ts"), text("Early."), write("NOTES.md"), text("Done.")],
  ])
  const variables = { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ guards }) }
  const { code, out, err } = await vitamin(tmp, ["--trust", "run", "--sandbox", "go"], variables)
  assert.equal(code, 0, err)
  assert.match(out, /Done\.$/)
  assert.deepEqual(
    [...err.matchAll(/^vitamin: guard "([\w-]+)" (?:blocked|held back the) (\w+)/gm)].map(
      (found) => found[2],
    ),
    ["bash", "answer"],
  )
  const explained = await vitamin(tmp, ["guard", "explain"])
  assert.match(explained.out, /git push nowhere was blocked by "no-push": nobody has looked\n/)
  assert.match(explained.out, /answer was blocked by "noted": no notes\n.* 2 blocked$/)
})
