// Guards in TypeScript: trusted files of a project, and guards that hang or throw.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const noPush = `import { bSync, bThread } from "vitamin/behavioral"
export default {
  because: "the branch is not reviewed",
  until: "a look at the diff",
  thread: bThread([bSync({ block: "bash:git push*", waitFor: "bash.done:git diff*" })]),
}
`
const push = call("bash", { command: "git push nowhere" })

async function running(tmp: Tmp, script: Reply[], args: string[] = []) {
  await using llm = await fakeLlm(script)
  const ran = await vitamin(tmp, ["run", "--yes", ...args, "go"], env(llm, "chat").variables)
  return { ...ran, sent: llm.requests.map(({ raw }) => raw) }
}

async function trusted(files: Record<string, string>): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  for (const [name, content] of Object.entries(files)) tmp.write(`.vitamin/guards/${name}`, content)
  const { code, err } = await vitamin(tmp, ["trust", "--yes"])
  assert.equal(code, 0, err)
  return tmp
}

test("a guard of .vitamin/guards blocks a call once the folder is trusted", async () => {
  await using tmp = await trusted({ "no-push.ts": noPush })
  const { code, err, sent } = await running(tmp, [
    push,
    call("bash", { command: "git diff" }),
    push,
    text("ok"),
  ])
  assert.equal(code, 0, err)
  assert.match(
    err,
    /guard "no-push" blocked bash: the branch is not reviewed\. This ends the block: a look at the diff\./,
  )
  assert.equal(err.match(/guard "no-push" blocked/g)?.length, 1)
  assert.match(sent[3]!, /fatal: .*\[exit code 128\]/)
})

test("guards of an untrusted or changed file are not used, and stderr says so", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/guards/no-push.ts", noPush)
  const untrusted = await running(tmp, [push, text("ok")])
  assert.match(untrusted.err, /no-push\.ts: its guards are not used: the folder is not trusted/)
  assert.doesNotMatch(untrusted.err, /blocked bash/)
  await vitamin(tmp, ["trust", "--yes"])
  assert.match((await running(tmp, [push, text("ok")])).err, /guard "no-push" blocked bash/)
  tmp.write(".vitamin/guards/no-push.ts", `${noPush}// changed\n`)
  const changed = await running(tmp, [push, text("ok")])
  assert.match(changed.err, /no-push\.ts: its guards are not used: it changed since it was reviewed/)
})

const hanging = {
  "in its thread": `export default { because: "x", *thread() {
    yield { waitFor: "ls.done" }
    for (;;);
  } }`,
  "in its first step": `export default { because: "x", *thread() { for (;;); } }`,
  "in a listener": `export default { because: "x", *thread() {
    yield { block: ({ type }) => { if (type === "bash") for (;;); return false } }
  } }`,
  "when it is asked what it waits for": `export default { because: "x", *thread() {
    yield { block: "ls", waitFor: ({ type }) => { while (type === "approve"); return false } }
  } }`,
}
for (const [where, code] of Object.entries(hanging))
  test(`a guard that never yields ${where} is named and ended, and the others go on`, async () => {
    await using tmp = await trusted({ "hangs.ts": code, "no-push.ts": noPush })
    const { code: exit, err } = await running(tmp, [call("ls"), push, text("ok")])
    assert.equal(exit, 0, err)
    assert.match(err, /the guard "hangs" does not work: it ran for more than 1000 ms and was ended/)
    assert.match(err, /guard "no-push" blocked bash/)
  })

test("a guard that yields a wrong key is named with the key", async () => {
  await using tmp = await trusted({
    "yields.ts": `export default { because: "x", *thread() { yield { blok: "ls" } } }`,
  })
  const { code, err } = await running(tmp, [call("ls"), text("ok")])
  assert.equal(code, 0, err)
  assert.match(err, /the guard "yields" does not work: blok: the key is unknown; there are request, waitFor/)
})

test("a guard that is async is named, and its error does not end vitamin", async () => {
  await using tmp = await trusted({
    "later.ts": `export default { because: "x", async *thread() { throw new Error("later") } }`,
  })
  const { code, err } = await running(tmp, [call("ls"), text("ok")])
  assert.equal(code, 0, err)
  assert.match(err, /the guard "later" does not work: thread must be a generator function that is not async/)
})

test("a guard that throws is named and ended; a block that throws blocks", async () => {
  await using tmp = await trusted({
    "throws.ts": `export default { because: "x", *thread() {
      yield { waitFor: "ls" }
      throw new Error("a mistake in the thread")
    } }`,
    "listens.ts": `export const broken = { because: "its listener is broken", *thread() {
      yield { block: (event) => event.type === "glob" && event.detail.nothing.here }
    } }`,
    "empty.ts": `export const x = 1`,
  })
  const { code, err } = await running(tmp, [call("ls"), call("glob", { pattern: "*" }), push, text("ok")])
  assert.equal(code, 0, err)
  assert.match(err, /the guard "throws" does not work: a mistake in the thread/)
  assert.match(err, /the guard "broken" does not work: Cannot read properties of undefined/)
  assert.match(err, /guard "broken" blocked glob: its listener is broken/)
  assert.match(err, /empty\.ts: its guards are not used: it exports no guard/)
})

test("a guard cannot block what has happened, is never interrupted, and requests for ever only once", async () => {
  await using tmp = await trusted({
    "all.ts": `export default { because: "no answers", *thread() {
      yield { block: ({ type }) => type.endsWith(".done"), waitFor: "ls.done", interrupt: "prompt" }
      yield { block: "write" }
    } }`,
    "requests.ts": `export default { because: "x", *thread() { for (;;) yield { request: { type: "tick" } } } }`,
  })
  const write = call("write", { path: "a.txt", content: "x" })
  const { code, err } = await running(tmp, [call("ls"), write, text("ok")])
  assert.equal(code, 0, err)
  assert.match(err, /guard "all" blocked write: no answers/)
  assert.match(err, /the guard "requests" does not work: it requested \d+ events in a row and was ended/)
})

test("a guard that blocks a call and ends in the same step still blocks it", async () => {
  await using tmp = await trusted({
    "ends.ts": `export default { because: "not yet", *thread() { yield { block: "ls", waitFor: "tick" } } }`,
    // It lets the request through while the call is judged.
    "opens.ts": `let isOpen = false
      export const opens = { because: "x", *thread() {
        yield { block: ({ type }) => { isOpen ||= type === "ls"; return type === "tick" && !isOpen } }
      } }
      export const ticks = { because: "x", *thread() { yield { request: { type: "tick" } } } }`,
  })
  const { code, err, sent } = await running(tmp, [call("ls"), text("ok")])
  assert.equal(code, 0, err)
  assert.match(err, /guard "ends" blocked ls: not yet/)
  assert.match(sent[1]!, /\\"ls\\" was not run/)
})

test("guards of the same name are told apart", async () => {
  const named = (name: string) => `{ because: "of ${name}", *thread() { yield { block: "ls" } } }`
  await using tmp = await trusted({
    "same.ts": `export default ${named("default")}\nexport const same = ${named("export")}`,
    "other.ts": `export const same = ${named("other")}`,
  })
  const { code, err } = await running(tmp, [call("ls"), text("ok")])
  assert.equal(code, 0, err)
  assert.deepEqual(
    [...err.matchAll(/^vitamin: guard "(.*)" blocked ls: (.*?)\./gm)].map(([, name, because]) => [
      name!.replace(/^.*\/(?=[^/]*$)/, ""),
      because,
    ]),
    [
      ["same", "of other"],
      ["same.ts: same", "of default"],
      ["same.ts: same 2", "of export"],
    ],
  )
})
