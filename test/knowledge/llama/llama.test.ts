// A model through the real library: loading, tokenising, generating, stopping, and all that can end it.
import assert from "node:assert/strict"
import { utimesSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { findLlama, type Llama, loadLlama } from "#knowledge/llama/llama.ts"
import { hasProcess } from "#util/process.ts"
import { linkLlama, noLlama } from "../../fixture/llama.ts"
import { type TinyOptions, writeTinyGguf } from "../../fixture/tiny-gguf.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noLlama }
const saying = { "\n": "one ", "one ": "two ", "two ": "é", é: "STOP", STOP: "never", never: "one " }
const ask = "<start_of_turn>user\nhi<end_of_turn>\n"

async function withLlama(
  options: TinyOptions & { idle?: number; context?: number },
  fn: (llama: Llama, path: string) => Promise<void>,
): Promise<void> {
  await using tmp = await tmpdir()
  linkLlama()
  const path = join(tmp.path, "tiny.gguf")
  writeTinyGguf(path, options)
  const llama = loadLlama({ path, use: "completion", context: options.context ?? 1_024 }, options.idle)
  try {
    await fn(llama, path)
  } finally {
    await llama.close()
  }
}

test(
  "a model says piece after piece, stops at a stop sequence that is not told, and counts tokens",
  real,
  async () => {
    await withLlama({ next: saying }, async (llama) => {
      const pieces: string[] = []
      assert.equal(llama.pid(), undefined)
      const result = await llama.complete({
        prompt: ask,
        stop: ["STOP"],
        maxTokens: 100,
        onToken: (piece) => pieces.push(piece),
      })
      assert.deepEqual(pieces, ["one ", "two ", "é"])
      assert.deepEqual(result, { text: "one two é", finish: "stop", promptTokens: 11, tokens: 4 })
      const within = await llama.complete({ prompt: ask, stop: ["o é"], maxTokens: 100 })
      assert.equal(within.text, "one tw")
      const cut = await llama.complete({ prompt: ask, stop: [], maxTokens: 7 })
      assert.deepEqual([cut.text, cut.finish], ["one two éSTOPneverone two ", "length"])
      assert.equal(await llama.countTokens(ask), 11)
      assert.equal(await llama.countTokens("<escape><\\escape>"), 1 + 1 + 9)
    })
  },
)

test("a model ends its turn by itself, and gives the same answer twice", real, async () => {
  await withLlama({ next: { "\n": "yes" } }, async (llama) => {
    assert.deepEqual(await llama.complete({ prompt: ask, stop: [], maxTokens: 50 }), {
      ...{ text: "yes", finish: "stop", promptTokens: 11, tokens: 1 },
    })
  })
  await withLlama({ seed: 5 }, async (llama) => {
    const say = () => llama.complete({ prompt: ask, stop: [], maxTokens: 20, temperature: 0 })
    const first = await say()
    assert.ok(first.tokens > 0)
    assert.deepEqual(await say(), first)
  })
})

test("an aborted completion ends at once, and the next one has the same process", real, async () => {
  await withLlama({ next: saying }, async (llama) => {
    const controller = new AbortController()
    let pieces = 0
    const long = llama.complete({
      prompt: ask,
      stop: [],
      maxTokens: 1_000,
      signal: controller.signal,
      onToken: () => {
        pieces++
        if (pieces === 3) controller.abort(new Error("enough"))
      },
    })
    const counting = assert.rejects(llama.countTokens(ask, controller.signal), /enough/)
    const waiting = llama.complete({ prompt: ask, stop: ["two"], maxTokens: 9 })
    await assert.rejects(long, /enough/)
    await counting
    const pid = llama.pid()
    assert.equal((await waiting).text, "one ")
    assert.equal(pieces, 3)
    assert.equal(llama.pid(), pid)
    const late = llama.complete({ prompt: ask, stop: [], maxTokens: 9, signal: controller.signal })
    await assert.rejects(late, /enough/)
  })
})

test(
  "a prompt longer than the context is refused, and an answer ends where the context does",
  real,
  async () => {
    await withLlama({ next: saying, context: 256 }, async (llama) => {
      assert.equal(llama.contextSize, 256)
      await assert.rejects(llama.complete({ prompt: "a".repeat(300), stop: [], maxTokens: 5 }), {
        name: "Llama.Failed",
        message: /301 tokens of 256/,
      })
      const { tokens, finish } = await llama.complete({ prompt: ask, stop: [], maxTokens: 1_000 })
      assert.deepEqual([tokens, finish], [256 - 11, "length"])
    })
  },
)

test(
  "a process that dies fails its completion by name, and the next one has a new process",
  real,
  async () => {
    await withLlama({ next: saying }, async (llama) => {
      const dying = llama.complete({
        prompt: ask,
        stop: [],
        maxTokens: 1_000,
        onToken: () => process.kill(llama.pid()!, "SIGSEGV"),
      })
      await assert.rejects(dying, { name: "Llama.Failed", message: /ended unexpectedly \(SIG/ })
      assert.equal((await llama.complete({ prompt: ask, stop: ["two"], maxTokens: 9 })).text, "one ")
    })
  },
)

test(
  "those who ask for the same model share one process; the last to close ends it, even amid an answer",
  real,
  async () => {
    await withLlama({ next: saying }, async (llama, path) => {
      const second = loadLlama({ path, use: "completion", context: 1_024 })
      await Promise.all([llama.countTokens("a"), second.countTokens("b")])
      const pid = llama.pid()!
      assert.equal(second.pid(), pid)
      await second.close()
      await second.close()
      assert.ok(hasProcess(pid))
      const began = Promise.withResolvers<void>()
      const long = llama.complete({ prompt: ask, stop: [], maxTokens: 900, onToken: () => began.resolve() })
      const failed = assert.rejects(long, { name: "Llama.Failed" })
      await began.promise
      await llama.close()
      await failed
      assert.ok(!hasProcess(pid))
      await assert.rejects(llama.countTokens("a"), /closed/)
    })
  },
)

test(
  "a long prompt is read in steps, can be given up between them, and is not read twice",
  real,
  async () => {
    await withLlama({ next: saying, context: 4_096 }, async (llama) => {
      const steps = async (prompt: string, controller?: AbortController) => {
        let empty = 0
        const onToken = (piece: string) => {
          if (!piece) empty++
          if (!piece) controller?.abort(new Error("enough"))
        }
        const more = controller ? { signal: controller.signal } : {}
        await llama.complete({ prompt, stop: ["two"], maxTokens: 9, onToken, ...more })
        return empty
      }
      const long = "a".repeat(2_000)
      await assert.rejects(steps(`b${long}\n`, new AbortController()), /enough/)
      assert.equal(await steps(`${long}\n`), 3)
      assert.equal(await steps(`${long}bc\n`), 0)
      assert.equal(await steps(`c${long}\n`), 3)
    })
  },
)

test("a model can be closed while it is loaded", real, async () => {
  await withLlama({ next: saying }, async (llama) => {
    const failed = assert.rejects(llama.countTokens("a"), { name: "Llama.Failed" })
    const next = assert.rejects(llama.countTokens("b"), /closed/)
    await sleep(30)
    await llama.close()
    await Promise.all([failed, next])
    assert.equal(llama.pid(), undefined)
  })
})

test("an idle model is unloaded, and loaded again", real, async () => {
  await withLlama({ next: saying, idle: 50 }, async (llama) => {
    await llama.countTokens("a")
    const pid = llama.pid()!
    await until(() => !hasProcess(pid))
    assert.equal(llama.pid(), undefined)
    assert.equal(await llama.countTokens("a"), 2)
  })
})

test("a model is also unloaded after a failed request", real, async () => {
  await withLlama({ seed: 9, idle: 50, context: 64 }, async (llama) => {
    const asking = { prompt: ask.repeat(20), stop: [], maxTokens: 3 }
    await assert.rejects(llama.complete(asking), {
      name: "Llama.Failed",
      message: /the prompt has \d+ tokens of/,
    })
    await until(() => llama.pid() === undefined)
  })
})

test(
  "a file that was replaced is not loaded in the place of the one that was asked first",
  real,
  async () => {
    await withLlama({ seed: 9, idle: 50 }, async (llama, path) => {
      await llama.countTokens("a")
      await until(() => llama.pid() === undefined)
      writeTinyGguf(path, { seed: 10 })
      utimesSync(path, 1, 1)
      await assert.rejects(llama.countTokens("a"), { name: "Llama.Failed", message: /has changed/ })
    })
  },
)

test("without the library the error names the install command, and the project's own copy is not used", async () => {
  await using tmp = await tmpdir()
  tmp.write("node_modules/node-llama-cpp/package.json", '{ "main": "index.js" }')
  tmp.write("node_modules/node-llama-cpp/index.js", "process.exit(7)")
  const path = join(tmp.path, "tiny.gguf")
  writeTinyGguf(path)
  const before = process.cwd()
  process.chdir(tmp.path)
  try {
    assert.equal(findLlama(), undefined)
    const llama = loadLlama({ path, use: "completion", context: 512 })
    await assert.rejects(llama.countTokens("a"), {
      name: "Llama.Missing",
      message: /npm install --prefix \S+\/vitamin\/llama node-llama-cpp@3\.\d+\.\d+$/,
    })
    await llama.close()
  } finally {
    process.chdir(before)
  }
})

test("a file that only looks like a model to us fails by name in its process", real, async () => {
  await withLlama({ next: saying }, async (_, path) => {
    writeTinyGguf(path, { next: saying, architecture: "nonesuch" })
    const llama = loadLlama({ path, use: "completion", context: 128 })
    await assert.rejects(llama.countTokens("a"), { name: "Llama.Failed" })
    assert.equal(llama.pid(), undefined)
    await llama.close()
  })
})
