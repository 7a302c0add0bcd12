// Checkouts and mirrors that several processes make at once, and those that were not finished.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import * as Checkout from "#ability/checkout/checkout.ts"
import * as Mark from "#ability/checkout/mark.ts"
import { mirrorWith, ownFolder } from "#ability/checkout/mirror.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

async function addProject(tmp: Tmp) {
  const { id, address } = await Checkout.Project.add(`file://${tmp.path}`, { trusted: false })
  return { id, address, commit: tmp.git("rev-parse", "HEAD").trim() }
}

/** Opens a checkout in another process, which waits before a command of git until `goOn` is called. */
async function openElsewhere(tmp: Tmp, place: string, command: string) {
  const folder = join(tmp.path, "..", "wrapper")
  mkdirSync(folder)
  const script = `#!/bin/sh
case " $* " in *" ${command} "*) touch "${folder}/waits"; until [ -e "${folder}/go" ]; do sleep 0.05; done;; esac
PATH="\${PATH#*:}"; exec git "$@"
`
  writeFileSync(join(folder, "git"), script)
  chmodSync(join(folder, "git"), 0o755)
  const env = { ...tmp.env, PATH: `${folder}:${process.env.PATH}` }
  const child = runFixture("open-checkout.ts", { args: [place], env })
  await until(() => existsSync(join(folder, "waits")), "the other process")
  return {
    async goOn() {
      writeFileSync(join(folder, "go"), "")
      assert.equal(await child.exit, 0, child.errors())
      return child.lines
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

test("a checkout that another process has made meanwhile is used, with the work in it", async () => {
  await using tmp = await tmpdir({ git: true })
  const { address } = await addProject(tmp)
  await using other = await openElsewhere(tmp, address, "remote set-url")
  const folder = await Checkout.open(address)
  writeFileSync(join(folder, "work.txt"), "work")
  assert.deepEqual(await other.goOn(), [folder])
  assert.equal(readFileSync(join(folder, "work.txt"), "utf8"), "work")
  assert.equal(readdirSync(dirname(folder)).length, 1)
})

test("a session begins at the commit that the first process has seen", async () => {
  await using tmp = await tmpdir({ git: true })
  const { id, address, commit } = await addProject(tmp)
  await Storage.write(["session", id, "sess_a"], {})
  await using other = await openElsewhere(tmp, `${address}#sess_a`, "ls-remote")
  await Checkout.open(`${address}#sess_a`)
  tmp.git("commit", "-q", "--allow-empty", "-m", "later")
  await other.goOn()
  assert.equal((await Checkout.read("sess_a"))?.commit, commit)
})

test("a checkout that was not finished is made again", async () => {
  await using tmp = await tmpdir({ git: true })
  const { address } = await addProject(tmp)
  const folder = await Checkout.open(address)
  rmSync(join(folder, "README.md"))
  assert.equal(await Checkout.open(address), folder)
  assert.equal(existsSync(join(folder, "README.md")), false)
  Mark.remove(folder)
  assert.equal(await Checkout.open(address), folder)
  assert.equal(existsSync(join(folder, "README.md")), true)
})

test("two checkouts at once make one mirror", async () => {
  await using tmp = await tmpdir({ git: true })
  const { id, address, commit } = await addProject(tmp)
  const project = { id, address }
  const mirrors = await Promise.all([mirrorWith(project, commit), mirrorWith(project, commit)])
  assert.equal(mirrors[0], mirrors[1])
  assert.deepEqual(readdirSync(ownFolder(id)), ["mirror.git"])
})

test("a mirror fetches new commits, also one that no branch contains", async () => {
  await using tmp = await tmpdir({ git: true })
  const { id, address, commit } = await addProject(tmp)
  const mirror = await mirrorWith({ id, address }, commit)
  const lone = tmp.git("commit-tree", "-m", "lone", "HEAD^{tree}").trim()
  await mirrorWith({ id, address }, lone)
  execFileSync("git", ["cat-file", "-e", lone], { cwd: mirror })
})
