// The example of docs/client.md, compiled against the types of the package and run against a real server.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { serving } from "../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../fixture/fake-llm.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const root = resolve(import.meta.dirname, "../..")
const [, example] = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(root, "docs/client.md"), "utf8"))!
const run = promisify(execFile)

test("the example of docs/client.md compiles, prompts, answers a question and prints the answer", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("A README.")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  tmp.write("package.json", '{ "type": "module" }')
  const program = tmp.write("program.ts", example!)
  mkdirSync(join(tmp.path, "node_modules/@vitamin-agent"), { recursive: true })
  symlinkSync(root, join(tmp.path, "node_modules/@vitamin-agent/vitamin"))
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const options = "--noEmit --strict --target esnext --module nodenext --types node --typeRoots"
  const types = [...options.split(" "), join(root, "node_modules/@types")]
  await run(process.execPath, [tsc, ...types, program], { cwd: tmp.path }).catch(({ stdout }) =>
    assert.fail(stdout),
  )
  const token = readFileSync(tokenFile, "utf8").trim()
  const variables = { ...tmp.env, VITAMIN_URL: url, VITAMIN_TOKEN: token }
  const { stdout } = await run(process.execPath, [program], { cwd: tmp.path, env: variables })
  assert.match(stdout, /^A README\.\n\d messages\n$/)
})
