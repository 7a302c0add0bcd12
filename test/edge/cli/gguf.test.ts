// GGUF models through the installed command: added, listed, run by the real library, removed.
import assert from "node:assert/strict"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { linkLlama, noLlama } from "../../fixture/llama.ts"
import { type TinyOptions, writeTinyGguf } from "../../fixture/tiny-gguf.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const real = { skip: noLlama }
const context = 32_768
/** Asks for the files of the folder, and answers when it has them. */
const lister = {
  "\n": "<start_function_call>",
  "<start_function_call>": "call:ls",
  "call:ls": "{}",
  "{}": "<end_function_call>",
  "<end_function_call>": "<start_function_response>",
  "<end_function_response>": "I have seen them.",
}

async function add(tmp: Tmp, name: string, options: TinyOptions): Promise<void> {
  writeTinyGguf(join(tmp.path, "..", `${name}.gguf`), options)
  const { code, err } = await vitamin(tmp, ["models", "add", `../${name}.gguf`])
  assert.equal(code, 0, err)
}

test("vitamin models add registers a file, models lists it, and remove unregisters it without deleting the file", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "mine.gguf")
  writeTinyGguf(file, { context })
  const added = await vitamin(tmp, ["models", "add", "./mine.gguf", "--name", "small"])
  assert.equal(added.code, 0, added.err)
  assert.equal(added.out, `local/small is ${file} (5 MB)`)
  assert.match(added.err, /npm install --prefix \S+\/llama node-llama-cpp@/)
  const listed = await vitamin(tmp, ["models", "local"])
  assert.match(listed.out, /^local\/small +32768 +\$0\/\$0 +tools$/m)
  const doctor = await vitamin(tmp, ["doctor"])
  assert.match(
    doctor.out,
    /^note +GGUF models +cannot be run.*\n +→ npm install --prefix \S+\/llama node-llama-cpp@/m,
  )
  assert.match(doctor.out, /^ok +GGUF models +local\/small is /m)
  const missing = await vitamin(tmp, ["run", "--model", "local/small", "hi"])
  assert.equal(missing.code, 1)
  assert.match(missing.err, /node-llama-cpp is not installed. This adds it: npm install/)
  const removed = await vitamin(tmp, ["models", "remove", "local/small"])
  assert.equal(removed.code, 0, removed.err)
  assert.ok(existsSync(file))
  const again = await vitamin(tmp, ["models", "remove", "small"])
  assert.deepEqual([again.code, /no added model "small"/.test(again.err)], [1, true])
  assert.doesNotMatch((await vitamin(tmp, ["models", "local"])).out, /small/)
})

test("vitamin models add refuses a file that is not a model, and registers nothing", async () => {
  await using tmp = await tmpdir()
  tmp.write("text.gguf", "hello")
  writeTinyGguf(join(tmp.path, "other.gguf"), { chatTemplate: "<|im_start|>" })
  for (const [args, reason] of [
    [["text.gguf"], /cannot be used as a GGUF model: it does not begin with "GGUF"/],
    [["other.gguf"], /chat template is not that of FunctionGemma/],
    [["none.gguf"], /there is no such file/],
  ] as const) {
    const { code, err } = await vitamin(tmp, ["models", "add", ...args])
    assert.equal(code, 1)
    assert.match(err, reason)
  }
  assert.match((await vitamin(tmp, ["models", "local"])).out, /^local\/rules[^\n]*$/)
})

test("vitamin run with a llama.cpp model calls a tool, reads its result, and answers", real, async () => {
  await using tmp = await tmpdir()
  linkLlama()
  tmp.write("hello.txt", "hi")
  await add(tmp, "functiongemma-tiny", { next: lister, context })
  const { code, out, err } = await vitamin(tmp, ["run", "--model", "local/functiongemma", "list the files"])
  assert.equal(code, 0, err)
  assert.equal(out, "I have seen them.")
  assert.match(err, /^· List/m)
  assert.deepEqual(readdirSync(tmp.path), ["hello.txt"])
})

test(
  "vitamin run exits with 1 and the reason if a model fills its output limit with nonsense",
  real,
  async () => {
    await using tmp = await tmpdir()
    linkLlama()
    await add(tmp, "noise", { seed: 2, context })
    const config = { provider: { local: { models: { noise: { output: 30 } } } } }
    const { code, out, err } = await vitamin(tmp, ["run", "--model", "local/noise", "hello"], {
      VITAMIN_CONFIG: JSON.stringify(config),
    })
    assert.deepEqual([code, /cut off at the limit of output tokens/.test(err)], [1, true], err)
    assert.ok(out.length > 0)
  },
)

test("vitamin run says clearly that a prompt does not fit the window of a model", real, async () => {
  await using tmp = await tmpdir()
  linkLlama()
  await add(tmp, "narrow", { next: lister, context: 600 })
  const { code, err } = await vitamin(tmp, ["run", "--model", "local/narrow", "hello"])
  assert.equal(code, 1)
  assert.match(err, /does not fit the model's window/)
})
