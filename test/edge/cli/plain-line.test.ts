// The reader of plain command lines gives what yargs gives, or leaves the line to it.
import assert from "node:assert/strict"
import { test } from "node:test"
import yargs, { type Argv } from "yargs"
import { addCommands } from "#edge/cli/commands.ts"
import { sharedOptions } from "#edge/cli/option/options.ts"
import { readPlainLine } from "#edge/cli/plain-line.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { createRandom } from "../../knowledge/message/fixture.ts"

const plain = [
  ["run", "go"],
  ["run", "--yes", "go"],
  ["run", "fix", "the", "bug", "-y", "-m", "openai/m"],
  ["run", "5", "1e3", "0x10"],
  ["run", "--max-steps", "3", "--max-cost", "0.5", "--timeout", "10", "go"],
  ["run", "--file", "a.ts", "--file", "b.ts:1-2", "go", "--format", "json"],
  ["run", "--dir", "/tmp", "--trust", "-C", "a=1", "--set", "b.c=2", "--log-level", "debug", "go"],
  ["run", "go", "--model", "help"],
  ["run", "--mode", "plan", "--agent", "plan", "--session", "sess_1", "a=b"],
  ["serve"],
  ["serve", "--port", "0", "--host", "127.0.0.1"],
  ["config", "show"],
  ["config", "show", "--format", "json"],
  ["session", "list", "--tasks"],
  ["session", "show"],
  ["session", "show", "sess_1", "--all"],
  ["session", "branch", "sess_1", "name"],
  ["tool", "search", "find", "files", "--limit", "3"],
  ["auth", "login", "anthropic"],
  ["permission", "remove", "one", "two"],
  ["trust", "folder", "--yes"],
  ["acp", "--yes"],
  ["doctor"],
]
const others = [
  [],
  ["--help"],
  ["run", "--help"],
  ["run", "help"],
  ["run", "please", "help", ""],
  ["run", "please", "help", "--yes"],
  ["--dir", "/tmp", "run", "go"],
  ["run", "--no-yes", "go"],
  ["run", "--yes", "false"],
  ["run", "--yes=true", "go"],
  ["run", "--model=x", "go"],
  ["run", "--model", "a", "--model", "b"],
  ["run", "--model"],
  ["run", "--model", "--yes"],
  ["run", "--session", "a", "--continue"],
  ["run", "--image-mode", "ocr", "go"],
  ["run", "--mode", "other", "go"],
  ["run", "--max-steps", "-1", "go"],
  ["run", "--max-steps", "1e2", "go"],
  ["run", "--max-steps", "0", "go"],
  ["run", "--max-steps", "007", "go"],
  ["run", '"quoted"'],
  ["run", "--", "--yes"],
  ["run", "-yc", "go"],
  ["run", "-x"],
  ["run", "--maxSteps", "3", "go"],
  ["run", "-"],
  ["session"],
  ["session", "lst"],
  ["session", "remove"],
  ["session", "show", "a", "b"],
  ["models"],
  ["mcp", "add", "name", "program"],
  ["serve", "now"],
  ["nonsense"],
]

for (const args of plain)
  test(`a plain line is read as yargs reads it: vitamin ${args.join(" ")}`, async () => {
    assert.deepEqual(plainly(args), await byYargs(args))
  })

for (const args of others)
  test(`a line that is not plain is left to yargs: vitamin ${args.join(" ")}`, () => {
    assert.equal(plainly(args), undefined)
  })

test("random lines are read as yargs reads them, or left to yargs", async () => {
  const starts = [
    ["run"],
    ["serve"],
    ["session", "show"],
    ["session", "revert"],
    ["tool", "search"],
    ["trust"],
  ]
  const words =
    "go a.b 12 0.5 -1 x=y é -y -c -m --yes --continue --model --file --deny --mode plan act --format json --port \
    --host --max-steps --timeout --limit --all --to --preview --dir --trust -C --set --log-level warn --session --remove --list help"
  const list = words.split(/\s+/)
  let read = 0
  for (let seed = 1; seed <= 1_500; seed++) {
    const random = createRandom(seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
    const args = [...pick(starts), ...Array.from({ length: Math.floor(random() * 6) }, () => pick(list))]
    const mine = plainly(args)
    if (mine === undefined) continue
    read++
    assert.deepEqual(mine, await byYargs(args), args.join(" "))
  }
  assert.ok(read > 100, `${read} lines were plain`)
})

function plainly(args: string[]): object | undefined {
  return readPlainLine<FolderOptions>(args, sharedOptions, addCommands)?.options
}

/** The options that the handler of the command would get. */
async function byYargs(args: string[]): Promise<object> {
  let given: Record<string, unknown> | undefined
  const keep = (options: Record<string, unknown>) => {
    given = options
  }
  const parser = yargs(args)
    .scriptName("vitamin")
    .options(sharedOptions)
    .exitProcess(false)
    .strict()
    .strictCommands()
  try {
    addCommands(withHandler(parser as unknown as Argv<FolderOptions>, keep)).fail((message, error) => {
      throw error ?? new Error(message)
    })
    await parser.parseAsync()
  } catch (error) {
    return { error: String(error) }
  }
  const { $0: _, ...options } = given ?? {}
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** yargs whose commands all call `handler` instead of their own. */
function withHandler<T>(parser: Argv<T>, handler: (options: Record<string, unknown>) => void): Argv<T> {
  return new Proxy(parser, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name === "command")
        return (pattern: string, about: string, build: (inner: Argv<T>) => unknown, own?: unknown) => {
          target.command(
            pattern,
            about,
            (inner) => void build(withHandler(inner as Argv<T>, handler)),
            own ? handler : undefined,
          )
          return withHandler(target, handler)
        }
      if (typeof value !== "function") return value
      return (...args: unknown[]) => {
        const result = value.apply(target, args)
        return result === target ? withHandler(target, handler) : result
      }
    },
  })
}

const declarations: Record<string, (yargs: Argv) => unknown> = {
  "an option that must be given": (yargs) => yargs.option("name", { type: "string", demandOption: true }),
  "a positional argument with a default": (yargs) =>
    yargs.positional("name", { type: "string", default: "x" }),
  "a positional argument that is converted": (yargs) =>
    yargs.positional("name", { type: "string", coerce: (name: string) => name.trim() }),
  "a conflict with a list of options": (yargs) =>
    yargs.option("a", { type: "boolean" }).conflicts("a", ["b", "c"]),
}
for (const [what, build] of Object.entries(declarations))
  test(`lines of a command with ${what} are left to yargs`, () => {
    const declare = (yargs: Argv) => yargs.command("do [name]", "", build as never, (async () => {}) as never)
    assert.equal(readPlainLine(["do"], {}, declare), undefined)
  })
