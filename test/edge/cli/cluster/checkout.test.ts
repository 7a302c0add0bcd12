// A project that is a git repository, on several machines: `vitamin serve --database` as processes with homes of their own,
// on one PostgreSQL and one repository on disk.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, globSync, lstatSync, readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { noPostgres, tmpDatabase } from "../../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"
import { homesOf, startWorker } from "./worker.ts"

const real = { skip: noPostgres, timeout: 120_000 }
const ask = (words: string) => ({ text: words, asks: "once" as const })

/** A bare repository beside the project folder, and its address. */
function makeRepository(tmp: Tmp): { address: string; git: (...args: string[]) => string } {
  tmp.write("program.sh", "#!/bin/sh\necho program\n")
  tmp.write("gone.txt", "will be deleted\n")
  tmp.write("folder/inside.txt", "inside\n")
  tmp.write(".gitignore", "ignored.txt\n")
  tmp.write("change.sh", script)
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "more files")
  const bare = join(tmp.path, "..", "repository.git")
  execFileSync("git", ["clone", "-q", "--bare", tmp.path, bare])
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
      cwd: bare,
      encoding: "utf8",
    }).trim()
  return { address: `file://${bare}`, git }
}

/** Everything of a work tree: kind, mode, content, and what git says about it. */
function pictureOf(folder: string) {
  const paths = globSync("**/*", { cwd: folder, exclude: [".git"] }).concat(
    globSync("**/.*", { cwd: folder }).filter((path) => !/^\.git(\/|$)/.test(path)),
  )
  const files = [...new Set(paths)].sort().map((path) => {
    const stat = lstatSync(join(folder, path))
    const mode = (stat.mode & 0o7777).toString(8)
    if (stat.isSymbolicLink()) return [path, "link", readlinkSync(join(folder, path))]
    if (stat.isDirectory()) return [path, "folder", mode]
    return [path, mode, readFileSync(join(folder, path), "utf8")]
  })
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" })
  return {
    files,
    status: git("status", "--porcelain=v2", "--branch"),
    log: git("log", "--all", "--format=%H %D"),
  }
}

function checkoutOf(worker: { data: string }, sessionId: string): string {
  const [found] = globSync(`${worker.data}-checkout/*/${sessionId}/*/.git`)
  return join(found!, "..")
}

/** Everything that an agent may do to a work tree. It is a file of the repository, because rules protect some of it. */
const script = `set -e
chmod +x folder/inside.txt; chmod 600 README.md; rm gone.txt; ln -s folder/inside.txt link
mkdir -p empty/deep new; printf 'a\\0b' > new/binary; echo staged > staged.txt; git add staged.txt
git -c user.name=a -c user.email=a@localhost commit -qm 'by the agent'
echo more >> staged.txt; git branch other; git add new; chmod 750 new; mv program.sh moved.sh
`

const changes = [
  call("bash", { command: "sh change.sh" }),
  call("write", { path: "ignored.txt", content: "written although ignored\n" }),
  call("edit", { path: "folder/inside.txt", edits: [{ oldText: "inside", newText: "edited" }] }),
  text("Changed."),
]

test(
  "a session of a git address continues on another server with the same files, modes, index and commits",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const { address } = makeRepository(tmp)
    await using llm = await fakeLlm([
      ...changes,
      call("bash", { command: "cat folder/inside.txt && echo second > second.txt" }),
      text("Continued."),
      call("read", { path: "second.txt" }),
      text("Back."),
    ])
    const { variables } = env(llm, "chat")
    const added = await vitamin(tmp, ["project", "add", address], { VITAMIN_DATABASE: database.url })
    assert.equal(added.code, 0, added.err)
    await using one = await startWorker(tmp, "one", { database, variables, directory: address })
    const session = await one.client.createSession({})
    assert.equal(session.directory, `${address}#${session.id}`)
    await one.client.promptSession({ id: session.id, ...ask("Change it.") })
    const before = pictureOf(checkoutOf(one, session.id))
    assert.match(before.status, /moved\.sh/)
    assert.ok(before.files.some(([path]) => path === "ignored.txt"))
    await one.stop()

    await using two = await startWorker(tmp, "two", { database, variables, directory: address })
    await two.client.getDiff({ id: session.id })
    assert.deepEqual(pictureOf(checkoutOf(two, session.id)), before)
    await two.client.promptSession({ id: session.id, ...ask("Go on.") })
    const results = (await two.client.listMessages({ id: session.id })).filter(
      ({ type }) => type === "tool_result",
    )
    assert.match(JSON.stringify(results.at(-1)), /edited/)
    const after = pictureOf(checkoutOf(two, session.id))

    // The first machine has an old checkout, and brings it up to date.
    await using again = await startWorker(tmp, "one", { database, variables, directory: address })
    await again.client.promptSession({ id: session.id, ...ask("And now?") })
    assert.deepEqual(pictureOf(checkoutOf(again, session.id)), after)

    // Undo on a machine that did not make the changes.
    const [prompt] = await again.client.listMessages({ id: session.id })
    const undone = await again.client.revertSession({ id: session.id, messageId: prompt!.id, force: true })
    assert.ok(undone.restored.includes("gone.txt"))
    assert.equal(existsSync(join(checkoutOf(again, session.id), "gone.txt")), true)
  },
)

test(
  "a project address that does not answer gives one clear error, and an unknown one names the command",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const set = { VITAMIN_DATABASE: database.url }
    const missing = `file://${tmp.path}/nothing.git`
    const refused = await vitamin(tmp, ["project", "add", missing], set)
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^vitamin: The project file:\S+nothing\.git cannot be reached: git ls-remote failed: [^\n]+\n$/,
    )
    for (const wrong of ["https://me:secret-of-me@host/a.git", "ext::sh -c date", "file://host/x"]) {
      const { code, err } = await vitamin(tmp, ["project", "add", wrong], set)
      assert.notEqual(code, 0, wrong)
      assert.doesNotMatch(err, /secret-of-me/)
      assert.match(err, /cannot be the address of a project/, err)
    }
    await using one = await startWorker(tmp, "one", {
      database,
      directory: "https://example.com/unknown.git",
    })
    await assert.rejects(one.client.createSession({}), /No project has the address .* project add/)
  },
)

test("a removed session leaves no checkout, record or object", real, async () => {
  await using tmp = await tmpdir({ git: true })
  await using database = await tmpDatabase()
  const { address } = makeRepository(tmp)
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "a\n" }), text("Done.")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["project", "add", address], { VITAMIN_DATABASE: database.url, ...homesOf(tmp, "one") })
  await using one = await startWorker(tmp, "one", { database, variables, directory: address })
  const session = await one.client.createSession({})
  await one.client.promptSession({ id: session.id, ...ask("Write.") })
  assert.equal((await database.query("select * from vitamin.record where parent = 'checkout'")).length, 1)
  await one.client.removeSession({ id: session.id })
  assert.deepEqual(await database.query("select * from vitamin.record where parent = 'checkout'"), [])
  assert.deepEqual(await database.query("select * from vitamin.object"), [])
  assert.deepEqual(globSync(`${one.data}-checkout/*/${session.id}`), [])
})

test(
  "vitamin session push makes a branch or a patch of what a session changed, never of the default branch unasked",
  real,
  async () => {
    await using tmp = await tmpdir({ git: true })
    await using database = await tmpDatabase()
    const { address, git } = makeRepository(tmp)
    await using llm = await fakeLlm(changes)
    const { variables } = env(llm, "chat")
    const set = { VITAMIN_DATABASE: database.url }
    await vitamin(tmp, ["project", "add", address], set)
    await using one = await startWorker(tmp, "one", { database, variables, directory: address })
    const session = await one.client.createSession({ title: "The title" })
    await assert.rejects(one.client.pushSession({ id: session.id }), /has changed nothing/)
    await one.client.promptSession({ id: session.id, ...ask("Change it.") })
    const main = git("rev-parse", "main")

    // The person's own machine, which has never seen the session.
    const push = (...args: string[]) => vitamin(tmp, ["session", "push", session.id, ...args], set)
    const pushed = await push("--branch", "agent/work")
    assert.equal(pushed.code, 0, pushed.err)
    assert.equal(git("log", "--format=%s", "main..agent/work"), "The title\nby the agent")
    assert.equal(git("show", "agent/work:folder/inside.txt"), "edited")
    assert.match(git("ls-tree", "agent/work", "folder/inside.txt", "link"), /^100755 [\s\S]*^120000/m)
    assert.doesNotMatch(
      git("ls-tree", "-r", "--name-only", "agent/work"),
      /gone\.txt|ignored\.txt|program\.sh/,
    )

    const refused = await push("--branch", "main")
    assert.equal(refused.code, 1)
    assert.match(refused.err, /^vitamin: The branch "main" is not pushed to: it is the default branch/)
    assert.equal(git("rev-parse", "main"), main)
    for (const branch of ["a..b", "-x", "a b"])
      assert.notEqual((await push(`--branch=${branch}`)).code, 0, branch)
    git(
      "branch",
      "-f",
      "agent/work",
      git("commit-tree", "main^{tree}", "-p", "main", "-m", "of somebody else"),
    )
    const forced = await push("--branch", "agent/work")
    assert.equal(forced.code, 1, "never forced")
    assert.equal(git("log", "-1", "--format=%s", "agent/work"), "of somebody else")

    const { branch } = await one.client.pushSession({ id: session.id })
    assert.equal(branch, `vitamin/${session.id}`)
    assert.equal(git("show", `${branch}:staged.txt`), "staged\nmore")

    const { out } = await push("--patch", "-")
    const clone = join(tmp.path, "..", "clone")
    execFileSync("git", ["clone", "-q", join(tmp.path, "..", "repository.git"), clone])
    execFileSync("git", ["apply", "--index", "-"], { cwd: clone, input: `${out}\n` })
    const tree = execFileSync("git", ["write-tree"], { cwd: clone, encoding: "utf8" }).trim()
    assert.equal(tree, git("rev-parse", `${branch}^{tree}`))
  },
)
