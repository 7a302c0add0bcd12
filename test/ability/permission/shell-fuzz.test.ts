// Lines made of pieces of shell, changed at random, judged, and run in a real bash where programs only note their names:
// nothing that was allowed may have run a program that no rule covers or that is denied, or have written a file.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { createRandom, mutate, word } from "./shell-fuzz-lines.ts"

const rule = (pattern: string, action: Permission.Action): Permission.Rule => ({
  permission: "bash.execute",
  pattern,
  action,
})
const strict = [
  ..."ok true pwd read set ( ".trim().split(" "),
  ..."ok find echo cd test [ printf read set declare export unset xargs env timeout nice command exec builtin bash sh eval sed awk sort uniq wait"
    .split(" ")
    .map((name) => `${name} *`),
  "git log*",
].map((pattern) => rule(pattern, "allow"))
/** By the first, programs without a rule must not run; by the second, denied ones. */
const ruleSets = [
  { rules: strict, covered: new Set(["ok", "find", "git", "echo", "true"]) },
  {
    rules: [rule("*", "allow"), ...["evil", "evil *", "rm", "rm *"].map((pattern) => rule(pattern, "deny"))],
    covered: new Set("ok find git echo true sudo cat ev il k".split(" ")),
  },
]
const noting = "ok evil rm find git sudo cat ev il k".split(" ")
/** These do what they always do. */
const real = "env xargs timeout nice bash sh sed awk sort uniq".split(" ")

test("no line that is allowed runs what no rule covers or what is denied, or writes a file", {
  timeout: 3_600_000,
}, async (t) => {
  await using tmp = await tmpdir()
  const [bin, work, notes] = ["bin", "work", "notes"].map((name) => join(tmp.path, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [bin, work, notes]) mkdirSync(folder)
  for (const name of noting) {
    // Where the environment was emptied, nobody can say which line it was.
    writeFileSync(join(bin, name), `#!/bin/bash\nbuiltin echo "\${0##*/}" >> "\${NOTES:-${notes}/lost}"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const name of real) {
    const found = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((path) => existsSync(path))
    if (found) symlinkSync(found, join(bin, name))
  }
  writeFileSync(join(work, "f"), "a[$(evil)]\n-exec evil ;\n")
  const lines = repeat(1_500, 20_000)
  const random = createRandom(Number(process.env.VITAMIN_SEED ?? 20_261_115))
  const allowed: { line: string; covered: Set<string> }[] = []
  for (let i = 0; i < lines; i++) {
    const line = mutate(random)
    const { rules, covered } = ruleSets[random(3) === 0 ? 1 : 0]!
    if (Permission.evaluateCommand(line, rules) !== "allow") continue
    spawnSync("/bin/bash", ["-c", line], {
      cwd: work,
      env: { PATH: bin, HOME: work, NOTES: join(notes, String(allowed.length)) },
      timeout: 2_000,
      killSignal: "SIGKILL",
      stdio: ["ignore", "ignore", "ignore"],
    })
    allowed.push({ line, covered })
    assert.deepEqual(readdirSync(work), ["f"], `allowed, but wrote a file: ${JSON.stringify(line)}`)
  }
  t.diagnostic(`${lines} lines, ${allowed.length} allowed and run`)
  assert.ok(allowed.length > lines / 20)
  assert.equal(readFileSync(join(work, "f"), "utf8"), "a[$(evil)]\n-exec evil ;\n")
  // Looked at when all are done: what a line left in the background has run by then.
  for (const name of readdirSync(notes)) {
    const { line, covered } = allowed[Number(name)] ?? { line: "(unknown)", covered: ruleSets[1]!.covered }
    const ran = readFileSync(join(notes, name), "utf8").trim().split("\n")
    const uncovered = ran.filter((program) => program && !covered.has(program))
    assert.deepEqual(uncovered, [], `allowed, but ran what nobody allowed: ${JSON.stringify(line)}`)
  }
  assert.ok(readdirSync(notes).length > allowed.length / 3)
  rmSync(work, { recursive: true })
})

test("what counts as known of a command is what bash makes of it", { timeout: 3_600_000 }, () => {
  const random = createRandom(Number(process.env.VITAMIN_SEED ?? 7))
  const known: { words: string; written: string }[] = []
  for (let i = 0; i < repeat(10_000, 200_000); i++) {
    const words = `${word(random)} ${word(random)}`
    const [only, ...more] = Permission.narrowest({ permission: "bash.execute", target: `ok ${words}` })
    if (only && !more.length) known.push({ words, written: only.pattern.slice("ok ".length) })
  }
  assert.ok(known.length > 500)
  const script = `while IFS= read -r -d '' w; do eval "set -- $w"; printf '%q ' "$@"; printf '\\0'; done`
  const { stdout } = spawnSync("/bin/bash", ["-c", script], {
    input: known.map(({ words, written }) => `${words}\0${written}\0`).join(""),
    env: { PATH: "/nowhere", HOME: "/nowhere", LC_ALL: "C.UTF-8" },
    cwd: "/",
    maxBuffer: 2 ** 28,
  })
  const made = stdout.toString().split("\0")
  const wrong = known.flatMap(({ words, written }, i) => {
    const [meant, granted] = made.slice(2 * i, 2 * i + 2)
    return granted === meant ? [] : [`${JSON.stringify(words)}: ${written}, not ${meant}`]
  })
  assert.deepEqual(wrong.slice(0, 20), [])
})
