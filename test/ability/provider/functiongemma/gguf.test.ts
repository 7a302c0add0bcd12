// A GGUF file that a person added as a model: its name and limits, refusals, changes to the file, and its process.
import assert from "node:assert/strict"
import { appendFileSync, mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { addModel, listAdded, removeModel } from "#ability/provider/added-models.ts"
import * as Provider from "#ability/provider/provider.ts"
import { Instance } from "#kernel/instance.ts"
import { loadLlama } from "#knowledge/llama/llama.ts"
import { linkLlama, noLlama } from "../../../fixture/llama.ts"
import { writeTinyGguf } from "../../../fixture/tiny-gguf.ts"
import { hello, inInstance, partsOf } from "../harness.ts"

const local = (models: object) => ({ provider: { local: { models } } })

test("an added file is local/NAME, with a window of 32K unless the file or the configuration has another", async () => {
  const config = local({ small: { context: 1_000, output: 50 } })
  await inInstance({ config }, async (path) => {
    const write = (name: string, context: number) => {
      writeTinyGguf(join(path, name), { context })
      return join(path, name)
    }
    assert.equal((await addModel(write("functiongemma-270m-it.gguf", 131_072))).name, "functiongemma")
    assert.equal((await addModel(write("FunctionGemma other.GGUF", 8_192))).name, "FunctionGemma-other")
    assert.equal((await addModel(write("any file.gguf", 4_096), "small")).name, "small")
    assert.equal((await addModel(write("silent.gguf", 0))).model.context, undefined)
    await removeModel("silent")
    await Provider.load()
    const found = Provider.models().filter(({ provider }) => provider === "local")
    assert.deepEqual(
      found.map(({ id, context, output }) => [id, context, output]).sort(),
      [
        ["FunctionGemma-other", 8_192, 2_048],
        ["functiongemma", 32_768, 4_096],
        ["rules", 1_000_000, 100_000],
        ["small", 1_000, 50],
      ].sort(),
    )
    await Provider.getModel("local", "small")
    assert.equal(Provider.facts("local", "small")?.context, 1_000)
    assert.equal(await removeModel("small"), true)
    assert.equal(await removeModel("small"), false)
    await assert.rejects(Provider.getModel("local", "small"), { name: "Provider.UnknownModel" })
    await assert.rejects(Provider.getModel("local", "functiongemma-2"), {
      name: "Provider.NotAdded",
      message: /vitamin models add/,
    })
  })
})

test("files that cannot be used as a model are not added", async () => {
  await inInstance({}, async (path) => {
    const file = join(path, "a.gguf")
    writeTinyGguf(file, { chatTemplate: "{{ messages }} <|im_start|>" })
    await assert.rejects(addModel(file), { name: "Models.CannotAdd", message: /chat template.*llama-server/ })
    writeTinyGguf(file, { chatTemplate: null })
    await assert.rejects(addModel(file, "rules"), { name: "Models.CannotAdd" })
    await assert.rejects(addModel(file, "a b"), { name: "Models.CannotAdd" })
    await assert.rejects(addModel(join(path, "none.gguf")), { name: "Gguf.Invalid" })
    assert.deepEqual(listAdded(), {})
  })
})

test("a file replaces another one of the same name only with --name", async () => {
  await inInstance({}, async (path) => {
    const [first, second] = ["one", "two"].map((folder) => join(path, folder, "model.gguf")) as [
      string,
      string,
    ]
    for (const file of [first, second]) {
      mkdirSync(dirname(file))
      writeTinyGguf(file)
    }
    await addModel(first)
    await addModel(first)
    await assert.rejects(addModel(second), {
      name: "Models.CannotAdd",
      message: /local\/model is .*one.*--name/,
    })
    assert.equal(listAdded().model?.path, first)
    await addModel(second, "model")
    assert.equal(listAdded().model?.path, second)
  })
})

test("a file that was changed or removed since it was added is not run", async () => {
  await inInstance({}, async (path) => {
    const file = join(path, "a.gguf")
    writeTinyGguf(file)
    await addModel(file)
    appendFileSync(file, "x")
    await assert.rejects(Provider.getModel("local", "a"), {
      name: "Models.Changed",
      message: /has changed since/,
    })
    await addModel(file)
    await Provider.getModel("local", "a")
    rmSync(file)
    await assert.rejects(Provider.getModel("local", "a"), { name: "Models.Changed", message: /not there/ })
  })
})

test("the process of a model ends with its instance", { skip: noLlama }, async () => {
  await inInstance({ config: local({ a: { output: 12 } }) }, async (path) => {
    linkLlama()
    const file = join(path, "a.gguf")
    writeTinyGguf(file, { seed: 3 })
    await addModel(file)
    const parts = await partsOf(await Provider.getModel("local", "a"), { ...hello, maxOutputTokens: 12 })
    const finish = parts.at(-1)!
    assert.ok(finish.type === "finish" && finish.usage.outputTokens.total! <= 12)
    const same = loadLlama({ path: file, use: "completion", context: 4_096 })
    const pid = same.pid()!
    await same.close()
    process.kill(pid, 0)
    await Instance.dispose()
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" })
  })
})
