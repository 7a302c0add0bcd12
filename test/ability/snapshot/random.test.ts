// Random scripts: files are edited by tools and by commands, then undone to a random point, and that is undone again.
// Everything is compared with what was there: bytes, modes, empty folders and hard links.
import assert from "node:assert/strict"
import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { repeat } from "../../fixture/soak.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { change, command, inProject, revert, treeOf } from "./harness.ts"

type Pick = <T>(from: readonly T[]) => T

const names = ["a.txt", "b.bin", "run.sh", "link", "d/c.txt", "d/e/f.txt", "g", "ö ü.txt", "new", "h/i/j"]
const contents = ["", "x\n", "a\r\nb\r\n", "no end", "\0\x01\xff", `${"long line ".repeat(50)}\n`]

test("random edits and commands are undone, and done again, byte for byte", async () => {
  for (let seed = 1; seed <= repeat(12, 200); seed++)
    await inProject((tmp) => runScript(tmp, seed), { git: seed % 4 !== 0 })
})

async function runScript(tmp: Tmp, seed: number): Promise<void> {
  const random = generator(seed)
  const pick: Pick = (from) => from[Math.floor(random() * from.length)]!
  prepare(tmp, pick, seed % 4 !== 0)
  const index = () =>
    existsSync(join(tmp.path, ".git")) ? readFileSync(join(tmp.path, ".git/index"), "hex") : ""
  const ownIndex = index()
  const steps: { image: Record<string, string>; messageId: string }[] = []
  for (let i = 0; i < 4; i++) {
    const image = treeOf(tmp.path)
    const { messageId } =
      random() < 0.5
        ? await editOne(tmp, pick)
        : await command([0, 1, 2].map(() => randomCommand(pick)).join("\n"))
    steps.push({ image, messageId })
  }
  const last = treeOf(tmp.path)
  const { image, messageId } = pick(steps)
  const untouched = Object.keys(image).filter(
    (path) => !path.endsWith("/") && steps.every((step) => step.image[path] === last[path]),
  )
  const times = () => untouched.map((path) => lstatSync(join(tmp.path, path)).mtimeMs)
  const before = times()
  const reverted = await revert(messageId)
  assert.deepEqual(treeOf(tmp.path), image, `seed ${seed}: not as it was before`)
  assert.deepEqual(times(), before, `seed ${seed}: times of other files`)
  await revert(reverted.messageId)
  assert.deepEqual(treeOf(tmp.path), last, `seed ${seed}: the revert was not undone`)
  assert.equal(index(), ownIndex, `seed ${seed}: the person's index`)
}

/** Some files that git has as they are, some that it has otherwise, some that it does not know. */
function prepare(tmp: Tmp, pick: Pick, git: boolean): void {
  tmp.write(".gitignore", "ignored/\n")
  for (const name of names.slice(0, 7)) if (pick([true, true, false])) put(tmp, name, pick)
  if (git) {
    tmp.git("add", "-A")
    tmp.git("commit", "-qm", "some")
  }
  for (const name of names) if (pick([true, false, false, false])) put(tmp, name, pick)
}

function put(tmp: Tmp, name: string, pick: Pick): void {
  const place = join(tmp.path, name)
  if (name === "link") {
    if (!lstatSync(place, { throwIfNoEntry: false })) symlinkSync(pick(["a.txt", "nowhere", "d"]), place)
    return
  }
  tmp.write(name, Buffer.from(pick(contents), "latin1"))
  if (pick([true, false])) chmodSync(place, 0o755)
}

/** What write and edit do: one file, new or changed, links followed. */
async function editOne(tmp: Tmp, pick: Pick): Promise<{ messageId: string }> {
  const free = names.filter((name) => {
    if (name === "link" || !isFolder(tmp, join(name, ".."))) return false
    return statAt(tmp, name)?.isFile() ?? true
  })
  const name = pick(free)
  return change([name], () => tmp.write(name, Buffer.from(`${pick(contents)}edit`, "latin1")))
}

/** Whether files can be made there: all of it that exists is folders. */
function isFolder(tmp: Tmp, path: string): boolean {
  if (path === ".") return true
  if (!isFolder(tmp, join(path, ".."))) return false
  return statAt(tmp, path)?.isDirectory() ?? true
}

function statAt(tmp: Tmp, path: string) {
  return lstatSync(join(tmp.path, path), { throwIfNoEntry: false })
}

function randomCommand(pick: Pick): string {
  const [one, two] = [pick(names), pick(names)].map((name) => `'${name}'`)
  return pick([
    `echo more >> ${one} || true`,
    `rm -rf ${one}`,
    `[ -f ${one} ] && [ ! -L ${one} ] && chmod +x ${one} || true`,
    `[ -f ${one} ] && [ ! -L ${one} ] && chmod -x ${one} || true`,
    `[ -e ${two} ] || mv ${one} ${two} || true`,
    `rm -rf ${one}; ln -sn somewhere ${one} || true`,
    `rm -rf ${one}; mkdir -p ${one} && echo inside > ${one}/inside || true`,
    `[ -f ${one} ] && sed -i s/o/0/ ${one} || true`,
    `mkdir -p made/deep && cp -P ${one} made/deep/ || true`,
    `[ -f ${one} ] && [ ! -L ${one} ] && chmod ${pick(["600", "640", "664"])} ${one} || true`,
    `[ -d ${one} ] && chmod ${pick(["700", "775"])} ${one} || true`,
    `mkdir -p ${pick(["made/empty", "d/none", "void"])} || true`,
    "rm -rf void made; mkdir -m 711 void",
    `[ -f ${one} ] && [ ! -L ${one} ] && [ ! -d ${two} ] && ln -f ${one} ${two} || true`,
    "rm -rf d; echo flat > d",
  ])
}

function generator(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
