// The grep tool through the gate: ripgrep's matches in order and bounded; an interrupt ends the process.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type { Slots } from "#ability/tool/run-tool.ts"
import type { Need } from "#ability/tool/tool.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { call, inProject } from "../harness.ts"

function plant(tmp: Tmp) {
  tmp.write(".gitignore", "dist/\n")
  tmp.write("src/b.ts", "one\nTODO two\nthree\nfour\nfive\nTODO: six (x\n")
  tmp.write("src/a.js", "// todo\nfoo(bar)\n")
  tmp.write("dist/c.ts", "TODO ignored\n")
  tmp.write(".github/ci.yml", "TODO hidden\n")
}

const cases: [args: Record<string, string | number | boolean>, text: string][] = [
  [{ pattern: "TODO" }, "src/b.ts\n2:TODO two\n6:TODO: six (x"],
  [{ pattern: "todo", ignoreCase: true }, "src/a.js\n1:// todo\n\nsrc/b.ts\n2:TODO two\n6:TODO: six (x"],
  [{ pattern: "todo", ignoreCase: true, glob: "*.js" }, "src/a.js\n1:// todo"],
  [{ pattern: "TODO", glob: "**/*.{js,yml}" }, "No match for TODO."],
  [{ pattern: "TODO", glob: ".github/**" }, ".github/ci.yml\n1:TODO hidden"],
  [{ pattern: "TODO", glob: "src/*.ts", path: "." }, "src/b.ts\n2:TODO two\n6:TODO: six (x"],
  [{ pattern: "TODO", glob: "lib/*.ts" }, "No match for TODO."],
  [{ pattern: "TODO t\\w+" }, "src/b.ts\n2:TODO two"],
  [{ pattern: "six (x", fixed: true }, "src/b.ts\n6:TODO: six (x"],
  [{ pattern: "-", path: "src" }, "No match for -."],
  [{ pattern: "--files" }, "No match for --files."],
  [{ pattern: "two", context: 1 }, "src/b.ts\n1-one\n2:TODO two\n3-three"],
  [
    { pattern: "TODO", context: 1, path: "src" },
    "src/b.ts\n1-one\n2:TODO two\n3-three\n--\n5-five\n6:TODO: six (x",
  ],
  [
    { pattern: "TODO", context: 1, limit: 1 },
    "src/b.ts\n1-one\n2:TODO two\n3-three\n[more than 1 matches, the first 1 are shown; narrow the search, or raise limit]",
  ],
  [{ pattern: "TODO", path: "src/b.ts" }, "src/b.ts\n2:TODO two\n6:TODO: six (x"],
  [{ pattern: "TODO", path: "src/b.ts", glob: "*.js" }, "src/b.ts\n2:TODO two\n6:TODO: six (x"],
  [{ pattern: "TODO", path: "dist/c.ts" }, "dist/c.ts\n1:TODO ignored"],
  [{ pattern: "hidden", path: ".github" }, ".github/ci.yml\n1:TODO hidden"],
]
for (const [args, text] of cases)
  test(`grep ${JSON.stringify(args)}`, async () => {
    await inProject(async (tmp) => {
      plant(tmp)
      const result = await call("grep", args)
      assert.equal(result.text, text)
      assert.equal(result.status, "success")
    })
  })

for (const [args, text] of [
  [{ pattern: "foo(" }, /regex parse error:.*unclosed group\nIf the pattern is meant literally, set fixed/s],
  [{ pattern: "(?=x)" }, /look-around.*Look-around and back-references are not supported/is],
  [{ pattern: "(a{1000}){1000}" }, /compiled regex exceeds size limit of 10485760/],
  [{ pattern: "x", glob: "[" }, /"\[" is not closed/],
  [{ pattern: "x", path: "nope" }, /"nope" does not exist/],
  [{ pattern: "x", limit: 0 }, /- limit: Too small/],
  [{ pattern: "x", context: 1.5 }, /- context: expected int/],
  [{ pattern: "x", regex: true }, /"regex" is not a parameter/],
  [{}, /- pattern: missing, expected string/],
] as const)
  test(`grep answers ${JSON.stringify(args)} with what is wrong`, async () => {
    await inProject(async () => {
      const result = await call("grep", args)
      assert.deepEqual([result.status, result.error?.recoverable], ["error", true])
      assert.match(result.text, text)
    })
  })

test("grep shows the first matches in order of path, the same every time", async () => {
  await inProject(async (tmp) => {
    for (let i = 0; i < 400; i++) tmp.write(`f${String(i).padStart(3, "0")}.txt`, "match\n".repeat(12))
    const shown = new Set<string>()
    for (let i = 0; i < 5; i++) shown.add((await call("grep", { pattern: "match" })).text)
    assert.equal(shown.size, 1)
    const [text] = shown
    assert.equal(text!.match(/^\d+:match$/gm)?.length, 100)
    assert.deepEqual(
      text!.match(/^f\d+\.txt$/gm),
      Array.from({ length: 9 }, (_, i) => `f00${i}.txt`),
    )
    assert.match(text!, /\n\[more than 100 matches, the first 100 are shown/)
    const all = await call("grep", { pattern: "match", limit: 1_000 })
    assert.equal(all.text.match(/^\d+:match$/gm)?.length, 1_000)
    assert.deepEqual(all.data, { matches: 1_000, files: 400, more: true })
  })
})

test("grep cuts long lines and leaves binaries alone", async () => {
  await inProject(async (tmp) => {
    tmp.write("min.js", `${"a".repeat(5_000)}needle${"b".repeat(5_000)}`)
    tmp.write("x.bin", Buffer.from("needle\0\0needle"))
    tmp.write("latin", Buffer.from("needle caf\xe9", "latin1"))
    const { text } = await call("grep", { pattern: "needle" })
    assert.ok(text.length < 600, text)
    assert.match(text, /^latin\n1:needle caf.$/m)
    assert.match(text, /^min\.js\n1:a{300} \[/m)
    assert.doesNotMatch(text, /^x\.bin\n1/m)
  })
})

test("grep finds the same in a folder as in each of its files", async () => {
  const line = `${"filler ".repeat(9)}\n`
  const files: [name: string, content: string | Buffer, found: RegExp][] = [
    ["bom", "\ufeffneedle\nx\n", /^1:needle$/m],
    ["crlf", "a\r\nneedle\r\nb\r\n", /^2:needle\r$/m],
    ["end", "a\nneedle", /^2:needle$/m],
    ["far", `${line.repeat(20_000)}needle\n`, /^20001:needle$/m],
    ["long", `${"é".repeat(400)}needle\n${"b".repeat(70_000)}needle\n`, /^1:é+ \[.*\n2:b+ \[/m],
    ["lossy", Buffer.from("\xe9\xff needle \xf0\x9f\n", "latin1"), /^1:\ufffd+ needle \ufffd+$/m],
    ["odd \\ name", "needle\n", /^1:needle$/m],
    ["u16be", Buffer.from("\ufeffa\nneedle é\n", "utf16le").swap16(), /^2:needle é$/m],
    ["u16le", Buffer.from(`\ufeff${line.repeat(9_000)}needle é\n`, "utf16le"), /^9001:needle é$/m],
  ]
  await inProject(async (tmp) => {
    for (const [name, content] of files) tmp.write(`sub/${name}`, content)
    const { text } = await call("grep", { pattern: "needle", path: "sub" })
    const groups = text.split("\n\n")
    assert.deepEqual(
      groups.map((group) => group.split("\n", 1)[0]),
      files.map(([name]) => `sub/${name}`),
    )
    for (const [i, [name, , found]] of files.entries()) {
      assert.match(groups[i]!, found, name)
      assert.equal((await call("grep", { pattern: "needle", path: `sub/${name}` })).text, groups[i])
    }
    const around = await call("grep", { pattern: "needle", path: "sub", glob: "crlf", context: 1 })
    assert.equal(around.text, "sub/crlf\n1-a\r\n2:needle\r\n3-b\r")
  })
})

test("grep reports that it left out a file whose name is not UTF-8", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "needle\n")
    writeFileSync(Buffer.concat([Buffer.from(`${tmp.path}/b`), Buffer.from([0xff])]), "needle\n")
    const { text, data } = await call("grep", { pattern: "needle" })
    assert.match(text, /^a\.txt\n1:needle\n\[1 files left out that changed meanwhile/)
    assert.deepEqual(data, { matches: 1, files: 1, more: false })
    // A name that reads the same does not stand for it.
    tmp.write("b\ufffd", "needle of another\n")
    assert.equal((await call("grep", { pattern: "needle" })).text, text)
  })
})

test("grep judges a file name with line ends as one name", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "needle\nx\nz\ny\nneedle\n")
    tmp.write("odd\n\na.txt", "other needle\nx\nz\ny\nneedle\n")
    tmp.write("stopped", `${"needle\n".repeat(3)}${"x\n".repeat(90_000)}\0`)
    const { text } = await call("grep", { pattern: "needle", context: 1, glob: "*.txt" })
    const shown = (name: string, first: string) => `${name}\n1:${first}\n2-x\n--\n4-y\n5:needle`
    assert.equal(text, `${shown("a.txt", "needle")}\n\n${shown("odd\n\na.txt", "other needle")}`)
    const judge = ({ target }: Need) => (target.includes("odd") ? "deny" : "allow")
    const slots: Slots = { permit: () => ({ granted: [], judge }) }
    assert.doesNotMatch((await call("grep", { pattern: "needle" }, { slots })).text, /other/)
  })
})

test("grep does not follow links out of the workspace", async () => {
  await inProject(async (tmp) => {
    tmp.write("../outside/secret.ts", "secret")
    symlinkSync(join(dirname(tmp.path), "outside"), join(tmp.path, "link"))
    symlinkSync(join(dirname(tmp.path), "outside/secret.ts"), join(tmp.path, "link.ts"))
    assert.equal((await call("grep", { pattern: "secret" })).text, "No match for secret.")
    for (const path of ["link", "link.ts"])
      assert.match((await call("grep", { pattern: "secret", path })).text, /outside of the workspace/)
  })
})

test("grep that is aborted in the middle leaves no ripgrep behind", { timeout: 60_000 }, async () => {
  await inProject(async (tmp) => {
    // Nobody writes to it, so that ripgrep waits for its ignore file until it is ended.
    execFileSync("mkfifo", [join(tmp.path, ".ignore")])
    const stop = new AbortController()
    const pending = call("grep", { pattern: "x" }, { signal: stop.signal })
    const running = await untilRunning(pending)
    assert.equal(running.length, 1)
    stop.abort()
    assert.equal((await pending).status, "interrupted")
    await untilGone(running[0]!)
  })
})

/** The ripgrep processes that we started, as soon as there is one. */
async function untilRunning(work: Promise<unknown>): Promise<string[]> {
  let over = false
  work.finally(() => {
    over = true
  })
  while (!over) {
    const found = readdirSync("/proc").filter(
      (pid) => /^\d+ \(rg\) \w /.test(statOf(pid)) && parentOf(pid) === process.pid,
    )
    if (found.length) return found
    await sleep(1)
  }
  return []
}

function untilGone(pid: string): Promise<void> {
  return until(() => !/\(rg\) [^Z]/.test(statOf(pid)), `process ${pid} to end`)
}

function parentOf(pid: string): number {
  return Number(statOf(pid).split(" ")[3])
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return ""
  }
}
