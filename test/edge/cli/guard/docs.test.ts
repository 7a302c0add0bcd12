// The examples of docs/guards.md, each run by the built command with a scripted model.
import assert from "node:assert/strict"
import { chmodSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const document = readFileSync(new URL("../../../../docs/guards.md", import.meta.url), "utf8")
const examples = [...document.matchAll(/^```(jsonc|ts)\n([\s\S]*?)^```$/gm)].map(([, , code]) => code!)
const project = ".vitamin/config.jsonc"

const write = (path: string) => call("write", { path, content: `${path}\n` })
const edit = call("edit", { path: "src/a.ts", edits: [{ oldText: "one", newText: "two" }] })
const bash = (command: string) => call("bash", { command })
const todo = call("todo", { todos: [{ text: "one", status: "pending" }] })
const done = text("Done.")

/** What was blocked, in order. In these projects `npm` does nothing. */
async function blockedBy(file: string, content: string, script: Reply[]): Promise<string[]> {
  await using tmp = await tmpdir({ git: true })
  tmp.write("src/a.ts", "one\n")
  tmp.write(".env", "KEY=1\n")
  const npm = tmp.write("bin/npm", "#!/bin/sh\n")
  chmodSync(npm, 0o755)
  tmp.write(file, content)
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm(script)
  const variables = { ...env(llm, "chat").variables, PATH: `${dirname(npm)}:${process.env.PATH}` }
  const { code, out, err } = await vitamin(tmp, ["run", "--yes", "go"], variables)
  assert.equal(code, 0, err)
  assert.match(out, /Done\.$/)
  return [...err.matchAll(/^vitamin: guard "([\w-]+)" (?:blocked|held back the) (\w+)/gm)].map(
    ([, guard, action]) => `${guard}: ${action}`,
  )
}

const scenes: { what: string; has: RegExp; file: string; script: Reply[]; blocked: string[] }[] = [
  {
    what: "the first guard",
    has: /"changelog": /,
    file: project,
    script: [write("src/b.ts"), text("Early."), write("CHANGELOG.md"), done],
    blocked: ["changelog: answer"],
  },
  {
    what: "the ready-made guards",
    has: /"read-before-edit": /,
    file: project,
    script: [
      edit,
      todo,
      edit,
      call("read", { path: "src/a.ts" }),
      edit,
      text("Early."),
      bash("npm test"),
      bash("npm run deploy"),
      ...Array.from({ length: 3 }, () => call("ls", { path: "src" })),
      call("read", { path: ".env" }),
      call("fetch", { url: "http://127.0.0.1:9/" }),
      ...["b", "c", "d", "e", "f"].map((name) => write(`src/${name}.ts`)),
      bash("git diff"),
      write("src/f.ts"),
      bash("npm test"),
      call("glob", { pattern: "*" }, { usage: { input: 3_000_000, output: 1 } }),
      done,
    ],
    blocked: [
      "plan-before-act: edit",
      "read-before-edit: edit",
      "read-before-edit: edit",
      "tests-before-answer: answer",
      "approve-deploy: bash",
      "no-repeats: ls",
      "no-network-after-secret: fetch",
      "look-at-diff: write",
      "budget: glob",
    ],
  },
  {
    what: "a guard that counts",
    has: /small-steps/,
    file: ".vitamin/guards/small-steps.ts",
    script: [
      ...["b", "c", "d", "e"].map((name) => write(`${name}.ts`)),
      bash("npm test"),
      write("e.ts"),
      done,
    ],
    blocked: ["small-steps: write"],
  },
  {
    what: "a guard of rules",
    has: /no-push/,
    file: ".vitamin/guards/no-push.ts",
    script: [bash("git push nowhere"), bash("git diff"), bash("git push nowhere"), done],
    blocked: ["no-push: bash"],
  },
]

for (const { what, has, file, script, blocked } of scenes)
  test(`docs/guards.md: ${what} works as described`, async () => {
    const found = examples.filter((code) => has.test(code))
    assert.equal(found.length, 1)
    assert.deepEqual(await blockedBy(file, found[0]!, script), blocked)
  })

test("docs/guards.md has no other examples", () => {
  for (const code of examples) assert.equal(scenes.filter(({ has }) => has.test(code)).length, 1, code)
})
