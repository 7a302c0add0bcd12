// The run that README.md shows, in a real terminal with a scripted model: the program must still print it.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import * as Global from "#kernel/process/global.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { openTerminal } from "../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const root = join(import.meta.dirname, "../../..")
const readme = readFileSync(join(root, "README.md"), "utf8")

/** The session id and the time differ from run to run. */
function stable(line: string): string {
  return line.replaceAll(/sess_\w+/g, "sess_…").replace(/\d+ tokens · \d+ s/, "… tokens · … s")
}

function writeProject(tmp: Tmp): void {
  tmp.write(
    "package.json",
    JSON.stringify({ type: "module", scripts: { test: "node test/port.test.js && echo 1 passed" } }),
  )
  const before = "// The port that the server listens on.\nexport function port(env) {\n"
  tmp.write("src/port.js", `${before}  return Number(env.PORT) ?? 3000\n}\n`)
  const imports = 'import assert from "node:assert"\nimport { port } from "../src/port.js"\n'
  tmp.write("test/port.test.js", `${imports}assert.equal(port({}), 3000)\n`)
}

test("README.md shows a run exactly as the program prints it, and undo restores the file", async () => {
  await using tmp = await tmpdir({ git: true })
  writeProject(tmp)
  const [, prompt, block] = /```console\n\$ vitamin run "([^"]+)"\n(.+?)```/s.exec(readme)!
  const lines = block!.trimEnd().split("\n")
  const answer = lines.slice(-3, -1).join("\n").replace("Number(undefined)", "`Number(undefined)`")
  const edits = [{ oldText: "Number(env.PORT) ?? 3000", newText: "Number(env.PORT ?? 3000)" }]
  await using llm = await fakeLlm([
    call("grep", { pattern: "PORT" }),
    call("read", { path: "src/port.js" }),
    call("edit", { path: "src/port.js", edits }),
    call("bash", { command: "npm test" }),
    text(answer),
  ])
  const { variables } = env(llm, "chat")
  await using terminal = openTerminal(tmp, ["run", prompt!], {
    // npm must not look for updates of itself, and the language servers of this checkout are not those of a person.
    env: { ...variables, npm_config_update_notifier: "false", PATH: ownPath() },
  })
  await terminal.sees(/say why not\): /)
  terminal.type("o\n")
  await terminal.sees(/say why not\): /, 2)
  terminal.type("a\n")
  assert.equal(await terminal.exit, 0, terminal.shown())
  // A terminal erases the status line before the next line is printed over it.
  const printed = (line: string) =>
    (line.startsWith("openai/fake-model · step") && lines.find((end) => line.endsWith(end))) || line
  const shown = terminal.shown().trimEnd().split("\n").map(printed)
  assert.deepEqual(shown.map(stable), lines.map(stable))
  assert.ok(JSON.stringify(llm.requests.at(-1)!.body).includes("\\n1 passed"), "the command ran")
  const reverted = await vitamin(tmp, ["session", "revert"], variables)
  assert.equal(reverted.code, 0, reverted.err)
  assert.match(readFileSync(join(tmp.path, "src/port.js"), "utf8"), /Number\(env\.PORT\) \?\? 3000/)
})

/** The PATH without what `npm run` adds. */
function ownPath(): string {
  const folders = process.env.PATH!.split(delimiter)
  return folders.filter((folder) => !folder.endsWith(join("node_modules", ".bin"))).join(delimiter)
}

test("README.md's configuration loads with every key", async () => {
  await using tmp = await tmpdir()
  const [, example] = /```jsonc\n(.+?)```/s.exec(readme)!
  tmp.write("../config/vitamin/vitamin.jsonc", example!)
  assert.equal(Global.config(), join(tmp.path, "../config/vitamin"))
  assert.partialDeepStrictEqual(
    await Config.load({ directory: tmp.path }),
    parseJsonc(example!, "README").value,
  )
})

test("README.md's table of commands names every command", async () => {
  await using tmp = await tmpdir()
  const { out } = await vitamin(tmp, ["--help"])
  const commands = [...out.matchAll(/^ {2}vitamin (\w+)/gm)].map(([, name]) => name!)
  assert.ok(commands.length > 10)
  const missing = [...new Set(commands)].filter(
    (name) => !new RegExp(`[|,] \`vitamin ${name}\\b`).test(readme),
  )
  assert.deepEqual(missing, [])
})

for (const file of ["README.md", "AGENTS.md"])
  test(`${file} is under 120 lines, and each file that it links to exists`, () => {
    const document = readFileSync(join(root, file), "utf8")
    assert.ok(document.split("\n").length <= 120)
    const targets = [...document.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target]) => target!)
    const missing = targets.filter((target) => !/^https?:/.test(target) && !existsSync(join(root, target)))
    assert.deepEqual(missing, [])
  })
