// Random outputs: correct ones are parsed to the original values, mutated ones give results or reported problems,
// never exceptions.
import assert from "node:assert/strict"
import { test } from "node:test"
import { formatFunctionCall } from "#ability/provider/functiongemma/format-prompt.ts"
import {
  type FunctionCall,
  InvalidCall,
  parseFunctionCalls,
} from "#ability/provider/functiongemma/parse-function-calls.ts"
import { createOutputReader } from "#ability/provider/functiongemma/read-output.ts"
import { createRandom, type Random } from "../../../fixture/random.ts"
import { repeat } from "../../../fixture/soak.ts"

const pieces = [
  ..."<escape> <start_function_call> <end_function_call> <end_of_turn> <start_function_response> <eos> <\\escape> <\\\\bos>".split(
    " ",
  ),
  ...'call: { } [ ] , : - . 0 7 1e5 true null a key skill:script \n \\ < > " é 🙂 \u0000 \ud800'.split(" "),
  " ",
]
const letters = [..."ab{}[],:<>\\\"' \n\tüß🙂0-.e"]
const names = ["ls", "skill:script", "mcp_server.tool-2", "a/b@c$"]

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!
}

function randomText(random: Random): string {
  return Array.from({ length: random(6) }, () => pick(random, random(3) ? letters : pieces)).join("")
}

function randomValue(random: Random, depth = 0): unknown {
  switch (random(depth > 3 ? 5 : 7)) {
    case 0:
      return random(2_000_001) - 1_000_000
    case 1:
      return (random(2_000_001) - 1_000_000) / 7e3
    case 2:
      return pick(random, [true, false, null])
    case 5:
      return Array.from({ length: random(4) }, () => randomValue(random, depth + 1))
    case 6:
      return randomObject(random, depth + 1)
    default:
      return randomText(random)
  }
}

function randomObject(random: Random, depth = 0): Record<string, unknown> {
  const entries = Array.from({ length: random(4) }, () => [
    random(4) ? pick(random, ["path", "x", "$ref", "a.b-c", "1"]) : randomText(random),
    randomValue(random, depth),
  ])
  return Object.fromEntries(entries)
}

function mutate(random: Random, output: string): string {
  const at = random(output.length + 1)
  const end = Math.min(output.length, at + random(12))
  return `${output.slice(0, at)}${random(2) ? pick(random, pieces) : ""}${output.slice(random(2) ? end : at)}`
}

function streamed(random: Random, output: string) {
  const reader = createOutputReader()
  let text = ""
  for (let at = 0; at < output.length; ) {
    const size = 1 + random(9)
    text += reader.add(output.slice(at, at + size))
    at += size
  }
  return { text, parts: reader.end() }
}

test("every well-formed call comes back as it was, with text around it, and mutated ones never throw", () => {
  const random = createRandom(9)
  const rounds = repeat(20_000, 500_000)
  let broken = 0
  for (let round = 0; round < rounds; round++) {
    const calls: FunctionCall[] = Array.from({ length: 1 + random(3) }, () => ({
      name: pick(random, names),
      args: randomObject(random),
    }))
    const whole = calls.map(({ name, args }) => `Text. ${formatFunctionCall(name, args)}`).join("\n")
    const parsed = parseFunctionCalls(whole)
    assert.deepEqual(parsed.calls, calls)
    assert.deepEqual(parsed.problems, [])

    const mutated = random(2) ? mutate(random, mutate(random, whole)) : mutate(random, whole)
    const result = parseFunctionCalls(mutated)
    for (const problem of result.problems) {
      assert.ok(problem instanceof InvalidCall)
      assert.ok(problem.position >= 0 && problem.position <= mutated.length)
    }
    if (result.problems.length) broken++
    if (round % 10) continue
    const { text, parts } = streamed(random, mutated)
    const rest = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    assert.equal(`${text}${rest}`.trim(), result.text.trim())
    assert.deepEqual(
      parts.flatMap((part) => (part.type === "call" ? [part.args] : [])),
      result.calls.map(({ args }) => args),
    )
  }
  assert.ok(broken > rounds / 10)
})

test("outputs of random pieces can be parsed", () => {
  const random = createRandom(10)
  for (let round = 0; round < repeat(20_000, 500_000); round++) {
    const output = Array.from({ length: random(30) }, () => pick(random, pieces)).join("")
    const { parts, calls, problems, text } = parseFunctionCalls(output)
    assert.equal(parts.filter(({ type }) => type !== "text").length, calls.length + problems.length)
    assert.equal(typeof text, "string")
  }
})

// Work that grew with the square of the length would go on for hours.
test("hostile outputs of megabytes are parsed to their end", { timeout: 120_000 }, () => {
  const start = "<start_function_call>"
  const size = repeat(20_000, 200_000)
  for (const [output, problems] of [
    [`${start}call:a{x:`.repeat(size), size],
    [`${start}call:a{x:<escape>`.repeat(size), size / 2],
    [`${start}call:a{x:<escape> ${start}call:a{x:<escape>,k:<escape>`.repeat(size), size],
    [`${start}call:a{x:${"[".repeat(size * 50)}`, 1],
    [`${start}call:a{x:[${"1,".repeat(size * 10)}`, 1],
    [`${start}call:a{}${" ".repeat(size * 10)}x`, 1],
    ["<escape>".repeat(size), size],
    [`<${"\\".repeat(size * 50)}`, 0],
  ] as const)
    assert.equal(parseFunctionCalls(output).problems.length, problems)
})
