// `vitamin run --sandbox` as a process: the agent works inside, and its records, keys and questions stay outside.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { resultsIn } from "./harness.ts"

test("vitamin run --sandbox reads a file and answers", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("It is a fixture.")])
  const { code, out, err } = await vitamin(
    tmp,
    ["run", "--sandbox", "What is this?"],
    env(llm, "chat").variables,
  )
  assert.equal(code, 0, err)
  assert.equal(out, "It is a fixture.")
  assert.match(err, /^· Read README\.md:1-1$/m)
  assert.match(JSON.stringify(llm.requests[1]!.body), /# fixture/)
})

test("vitamin run --sandbox runs commands as children of the sandbox, without the key of the model", async () => {
  // A key in the output would be redacted, so the command only counts the lines that have it.
  const look = "{ env; cat /proc/*/environ; } 2>/dev/null | tr '\\0' '\\n' | grep -ac '_API_[K]EY=fake-llm'"
  const lookFrom = async (...args: string[]) => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([
      call("bash", { command: `cat /proc/1/comm; ${look}; touch made.txt` }),
      text("Done."),
    ])
    const { code, err } = await vitamin(tmp, ["run", ...args, "go"], env(llm, "chat").variables)
    assert.equal(code, 0, err)
    assert.ok(existsSync(join(tmp.path, "made.txt")))
    return resultsIn(llm)[0]!
  }
  // vitamin removes the key from its own environment, so another process of the person has it.
  const other = spawn("sleep", ["600"], { env: { OPENAI_API_KEY: "fake-llm" } })
  await using _ = { [Symbol.asyncDispose]: async () => void other.kill() }
  assert.match(await lookFrom("--sandbox"), /^bwrap\n0$/m)
  assert.match(await lookFrom("--yes"), /^[1-9]\d*$/m, "the key can be found without a sandbox")
})

test("in a repository of another user, the number of processes inside is limited", async () => {
  await using tmp = await tmpdir({ git: true })
  // As root the limit is only watched, so the folder belongs to somebody else.
  if (process.getuid?.() === 0) {
    chmodSync(dirname(tmp.path), 0o711)
    execFileSync("chown", ["-R", "65534:65534", tmp.path])
  }
  await using llm = await fakeLlm([call("bash", { command: "ulimit -u" }), text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(resultsIn(llm)[0]!, /^2000$/m)
})

test("an edit and a command inside are undone by vitamin session revert", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "one\n")
  await using llm = await fakeLlm([
    calls([
      call("read", { path: "a.txt" }),
      call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }),
    ]),
    call("bash", { command: "echo three > b.txt; rm README.md" }),
    text("Done."),
  ])
  const { variables } = env(llm, "chat")
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "change them"], variables)
  assert.equal(code, 0, err)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "two\n", JSON.stringify(resultsIn(llm)))
  assert.ok(existsSync(join(tmp.path, "b.txt")) && !existsSync(join(tmp.path, "README.md")))
  const undone = await vitamin(tmp, ["session", "revert"], variables)
  assert.equal(undone.code, 0, undone.err)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "one\n")
  assert.ok(!existsSync(join(tmp.path, "b.txt")) && existsSync(join(tmp.path, "README.md")))
})

test("in a folder without a repository, a command inside is undone, and its snapshot starts no git process", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "one\n")
  tmp.write("../bin/git", `#!/bin/sh\necho "$@" >>"${tmp.path}/../git.log"\nexit 1\n`)
  chmodSync(join(tmp.path, "../bin/git"), 0o755)
  await using llm = await fakeLlm([call("bash", { command: "echo two >a.txt" }), text("Done.")])
  const { variables } = env(llm, "chat")
  const path = { PATH: `${join(tmp.path, "../bin")}:${process.env.PATH}` }
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "go"], { ...variables, ...path })
  assert.equal(code, 0, err)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "two\n")
  await vitamin(tmp, ["session", "revert"], variables)
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "one\n")
  assert.ok(!existsSync(join(tmp.path, "../git.log")))
})

test("a session continues with and without --sandbox, and its history is the same", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("First."), text("Second."), text("Third.")])
  const { variables } = env(llm, "chat")
  for (const args of [
    ["run", "--sandbox", "one"],
    ["run", "-c", "two"],
    ["run", "-c", "--sandbox", "three"],
  ]) {
    const { code, err } = await vitamin(tmp, args, variables)
    assert.equal(code, 0, err)
  }
  const sent = JSON.stringify(llm.requests[2]!.body)
  for (const words of ["one", "First.", "two", "Second.", "three"]) assert.match(sent, new RegExp(words))
  const list = await vitamin(tmp, ["session", "list"], variables)
  assert.equal(list.out.match(/sess_/g)?.length, 1)
})

test("adapters.sandbox of the configuration allows writing ./output alone", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("../config/vitamin/vitamin.jsonc", '{ "adapters": { "sandbox": { "enabled": true } } }')
  await using llm = await fakeLlm([
    call("bash", { command: "echo a > output/a.txt; echo b > b.txt" }),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.ok(existsSync(join(tmp.path, "output/a.txt")))
  assert.ok(!existsSync(join(tmp.path, "b.txt")))
  assert.match(resultsIn(llm)[0]!, /b\.txt: Read-only file system/)
})

test("vitamin run --sandbox is refused if bubblewrap is missing, and no session is left", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  const { variables } = env(llm, "chat")
  const empty = join(tmp.path, "empty")
  tmp.write("empty/none", "")
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "go"], { ...variables, PATH: empty })
  assert.equal(code, 1)
  assert.match(err, /The sandbox did not start: bubblewrap \(bwrap\) is not on the PATH/)
  const list = await vitamin(tmp, ["session", "list"], variables)
  assert.doesNotMatch(list.out, /sess_/)
  assert.equal(llm.requests.length, 0)
})

test("vitamin run --sandbox is refused on a kernel without user namespaces, which says how to allow them", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  // A namespace of our own in which no other can be made.
  const closed = `echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"`
  const line = ["-Ur", "sh", "-c", closed, "sh", process.execPath, command, "run", "--sandbox", "go"]
  const variables = { ...tmp.env, ...env(llm, "chat").variables }
  await using child = run("unshare", line, { cwd: tmp.path, env: variables })
  child.process.stdin!.end()
  assert.equal(await child.exit, 1)
  assert.match(
    child.errors(),
    /did not start: this kernel does not let it make user namespaces\. Allow them: sysctl/,
  )
  assert.equal(llm.requests.length, 0)
  assert.equal(tmp.git("status", "--short"), "")
})

test("warnings of the process inside reach the person", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/agents/broken.md", "---\nname: [\n---\nText.\n")
  await using llm = await fakeLlm([text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(err, /warning: in the sandbox: .*broken\.md/)
})

test("a nested repository that would run a program at the person's git status is renamed, and the person is told", async () => {
  await using tmp = await tmpdir({ git: true })
  const script =
    "git init -q lib\ngit init -q plain\ngit -C lib config core.fsmonitor 'touch ran.txt; false'\n"
  await using llm = await fakeLlm([
    call("write", { path: "arm.sh", content: script }),
    call("bash", { command: "sh arm.sh" }),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, ["run", "--sandbox", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(
    err,
    /nested repository .* would have run programs of its own; its \.git is now .*\/lib\/\.git-disarmed_/,
  )
  assert.ok(!existsSync(join(tmp.path, "lib/.git")))
  assert.ok(existsSync(join(tmp.path, "plain/.git")))
})
