// Random shell lines are judged, and run in a real bash whose programs only record their names. A line that was
// allowed must not have run a program that no rule allows or that a rule denies, and must not have written a file.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
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
/** What a line may read. */
const inFile = "a[$(evil)]\n-exec evil ;\n"
/** A script is a program like others: who allows `sh *` allows what is in it. */
const runsFile = /sh\s+f\b/
type Place = { bin: string; work: string; notes: string }
/** These do what they always do. */
const real = "env xargs timeout nice bash sh sed awk sort uniq".split(" ")

test("no allowed line runs an uncovered or denied command, or writes a file", {
  timeout: 3_600_000,
}, async (t) => {
  await using tmp = await tmpdir()
  const place = preparePlace(tmp.path)
  const lines = repeat(1_500, 20_000)
  const random = createRandom(Number(process.env.VITAMIN_SEED ?? 20_261_115))
  const allowed: { line: string; covered: Set<string> }[] = []
  for (let i = 0; i < lines; i++) {
    const line = mutate(random)
    const { rules, covered } = ruleSets[random(3) === 0 ? 1 : 0]!
    if (runsFile.test(line)) continue
    if (Permission.evaluateCommand(line, rules) === "allow") allowed.push({ line, covered })
  }
  t.diagnostic(`${lines} lines, ${allowed.length} allowed and run`)
  assert.ok(allowed.length > lines / 20)
  const wrote = runAll(
    allowed.map(({ line }) => line),
    place,
  )
  assert.deepEqual(
    wrote.map((at) => allowed[at]!.line),
    [],
    "allowed, but wrote a file",
  )
  assert.equal(readFileSync(join(place.work, "f"), "utf8"), inFile)
  // Looked at when all are done: what a line left in the background has run by then.
  const wrong = readdirSync(place.notes).flatMap((name) => {
    const { line, covered } = allowed[Number(name)] ?? { line: "(unknown)", covered: ruleSets[1]!.covered }
    const ran = readFileSync(join(place.notes, name), "utf8").trim().split("\n")
    return ran.some((program) => program && !covered.has(program)) ? [line] : []
  })
  assert.deepEqual(wrong, [], "allowed, but ran what nobody allowed")
  assert.ok(readdirSync(place.notes).length > allowed.length / 3)
})

function preparePlace(path: string): Place {
  const place = { bin: join(path, "bin"), work: join(path, "work"), notes: join(path, "notes") }
  for (const folder of Object.values(place)) mkdirSync(folder)
  for (const name of noting) {
    // Where the environment was emptied, nobody can say which line it was.
    writeFileSync(
      join(place.bin, name),
      `#!/bin/sh\necho "\${0##*/}" >> "\${NOTES:-${place.notes}/lost}"\n`,
      { mode: 0o755 },
    )
  }
  for (const name of real) {
    const found = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((path) => existsSync(path))
    if (found) symlinkSync(found, join(place.bin, name))
  }
  writeFileSync(join(place.work, "f"), inFile)
  return place
}

/** Gives the numbers of the lines that wrote files. One bash starts the others: from here each would take twice as long. */
function runAll(lines: string[], { bin, work, notes }: Place): number[] {
  const script = `
    shopt -s dotglob
    for ((n = 0; ; n++)); do
      IFS= read -r -d '' line || exit 0
      (NOTES=$1/$n exec timeout -s KILL 2 /bin/bash -c "$line" </dev/null >/dev/null 2>&1) 2>/dev/null
      for path in *; do
        [[ $path == f ]] && continue
        echo $n
        /bin/rm -rf -- "$path"
      done
    done`
  const { stdout, status, error } = spawnSync("/bin/bash", ["-c", script, "bash", notes], {
    input: lines.map((line) => `${line}\0`).join(""),
    cwd: work,
    env: { PATH: bin, HOME: work },
    stdio: ["pipe", "pipe", "ignore"],
  })
  assert.deepEqual([error, status], [undefined, 0])
  return stdout.toString().split("\n").filter(Boolean).map(Number)
}

test("the known words of a command are those that bash expands to", { timeout: 3_600_000 }, () => {
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
