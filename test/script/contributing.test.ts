// Follows CONTRIBUTING.md in a copy of the checkout, as a newcomer would: writes its files, applies its changes, runs its
// commands. Blocks of `ts` and `md` open with the path of a new file; `diff` blocks change files; `sh` blocks are commands.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { test } from "node:test"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

const root = resolve(import.meta.dirname, "../..")
const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8")
const copied = ["src", "test", "docs", "script", "bench", "package.json", "tsconfig.json", "ARCHITECTURE.md"]

type Block = { language: string; text: string }

function copyCheckout(tmp: Tmp): void {
  for (const name of copied)
    cpSync(join(root, name), join(tmp.path, name), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    })
  symlinkSync(join(root, "node_modules"), join(tmp.path, "node_modules"))
}

function blocksOf(heading: string): Block[] {
  const [, section] = new RegExp(`^## ${heading}\n(.+?)(?=^## )`, "ms").exec(guide)!
  return [...section!.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }))
}

function follow(tmp: Tmp, { language, text }: Block): string {
  if (language === "ts" || language === "md") writeNewFile(tmp, text)
  else if (language === "diff") for (const file of text.split(/^--- /m).slice(1)) change(tmp, file)
  else if (language === "sh") return text.trim().split("\n").map(run).join("")
  else assert.fail(`a block of ${language} is no step`)
  return ""

  function run(line: string): string {
    const [program, ...args] = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""))
    assert.equal(program, "node")
    // A test runner that is told of an outer one would report to it and run nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = tmp.env
    return execFileSync(process.execPath, args, { cwd: tmp.path, env, encoding: "utf8", stdio: "pipe" })
  }
}

function writeNewFile(tmp: Tmp, text: string): void {
  const [first, ...rest] = text.split("\n")
  const path = join(tmp.path, /^(?:\/\/|<!--) (\S+)/.exec(first!)![1]!)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, rest.join("\n"), { flag: "wx" })
}

/** A file name, then hunks between `@@` lines, in which " " stays, "-" goes and "+" comes. */
function change(tmp: Tmp, text: string): void {
  const [name, ...lines] = text.trimEnd().split("\n")
  const path = join(tmp.path, name!)
  for (const hunk of lines.join("\n").split("\n@@\n")) {
    const pick = (signs: string) =>
      hunk
        .split("\n")
        .filter((line) => signs.includes(line[0]!))
        .map((line) => line.slice(1))
        .join("\n")
    const content = readFileSync(path, "utf8")
    assert.equal(content.split(pick(" -")).length, 2, `${name} has this once: ${pick(" -")}`)
    writeFileSync(
      path,
      content.replace(pick(" -"), () => pick(" +")),
    )
  }
}

const examples = [
  ["Add a tool", /pass 1\b.*fail 0\b/s],
  ["Add a provider", /pass 1\b.*fail 0\b/s],
  ["Add an agent", /Reviewer.*reviewer +\d/s],
  ["Add a route", /pass 1\b.*fail 0\b/s],
] as const

test("the steps of CONTRIBUTING.md work in a copy of the checkout", async (t) => {
  await using tmp = await tmpdir()
  copyCheckout(tmp)
  for (const [heading, expected] of examples)
    await t.test(heading, () => {
      const blocks = blocksOf(heading)
      assert.ok(blocks.some(({ language }) => language === "sh"))
      assert.match(blocks.map((block) => follow(tmp, block)).join(""), expected)
    })
  assert.match(readFileSync(join(tmp.path, "docs/tools.md"), "utf8"), /Count the lines of a text file/)
})
