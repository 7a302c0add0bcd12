// Which specialist a request is for, decided without a model.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createJudge, total } from "#ability/agent/cue/judge-request.ts"
import { route } from "#ability/agent/route.ts"
import { type AgentSpec, agentSpecs } from "#ability/agent/specialists.ts"
import { readEmbedded } from "#knowledge/embedder/embedded-model.ts"
import { judgeRouting, readLabelled } from "../../../bench/routing-sets.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const own = readLabelled("requests")
const best = (request: string, specs: readonly AgentSpec[] = agentSpecs) =>
  route(request, specs)[0]?.agent ?? "none"
const keywords = Object.fromEntries(agentSpecs.map((spec) => [spec.name, spec.keywords]))

test("the 300 requests are a third hard, and fewer than half have a keyword of the right specialist", () => {
  const hasKeyword = ({ label, request }: (typeof own)[number]) =>
    (keywords[label] ?? []).some((keyword) => new RegExp(`\\b${keyword}`, "i").test(request))
  assert.equal(new Set(own.map(({ request }) => request)).size, 300)
  assert.ok(own.filter(({ isHard }) => isHard).length >= 100)
  assert.ok(own.filter(hasKeyword).length < 150)
})

test("route() is right on 90 % of the 300 requests that it was tuned on", () => {
  const { share } = judgeRouting(own, best)
  assert.ok(share >= 90, `${share} %`)
})

test("route() is right on 70 % of 190 requests that it was not tuned on", () => {
  const unseen = readLabelled("unseen")
  assert.equal(unseen.length, 190)
  const { share } = judgeRouting(unseen, best)
  assert.ok(share >= 70, `${share} %`)
})

test("routing is right on 90 % of them without the file of the embedder too", async () => {
  await using tmp = await tmpdir()
  const missing = join(tmp.path, "embedder.bin")
  const { judge } = createJudge(keywords, (text) => readEmbedded(missing).embed(text))
  const choose = (request: string) => {
    const scores = [...judge(request).specialists].map(([name, reasons]) => ({ name, score: total(reasons) }))
    return scores.sort((a, b) => b.score - a.score)[0]?.name ?? "none"
  }
  const { share } = judgeRouting(own, choose)
  assert.ok(share >= 90, `${share} %`)
})

for (const { name, keywords } of agentSpecs)
  test(`route() finds ${name} by each of its keywords alone`, () => {
    for (const keyword of keywords) assert.equal(best(keyword), name, keyword)
  })

for (const [request, agent] of [
  ["find where the tests are run", "librarian"],
  ["don't run the tests, find where they are defined", "librarian"],
  ["don't search for the tests, run them", "operator"],
  ["do not browse the web, run the script", "operator"],
  ["search the web for how to encrypt a disk", "navigator"],
  ["remember my favourite colour", "chronicler"],
  ["remember my api key", "vault"],
  ['commit it with the message "hide the wallet"', "operator"],
  ["plese dcrypt the bakcup", "vault"],
  ["Hello!", "none"],
  ["what is 12 * 12?", "none"],
  ["what is a shell?", "none"],
  ["", "none"],
  ["?!", "none"],
  ["Позови кого-нибудь", "none"],
  ["\u0001 encrypt it's \u0001", "vault"],
  ["x".repeat(100_000), "none"],
] as const)
  test(`route() chooses ${agent} for ${JSON.stringify(request.slice(0, 60))}`, () =>
    assert.equal(best(request), agent))

test("route() reads any text", () => {
  for (const text of ["it'constructor __proto__", "\ud800", "\0", "a.".repeat(50_000), "'a ".repeat(30_000)])
    assert.ok(Array.isArray(route(text, agentSpecs)), text.slice(0, 20))
})

test("route() finds what is asked below a long output", () => {
  assert.equal(
    best(`${"0001 warm 3 cold 4 green\n".repeat(5_000)}\nEncrypt all of this with my passphrase`),
    "vault",
  )
})

test("route() leaves out a specialist that cannot do what is asked", () => {
  assert.ok(!route("run the script and browse the web", agentSpecs).some(({ agent }) => agent === "operator"))
})

test("route() gives the reasons in the words of the request, and they add up to the score", () => {
  const [first] = route("please take a screenshot of the landing page", agentSpecs)
  assert.equal(first?.agent, "navigator")
  assert.match(first.reasons.join("\n"), /it says "screenshot".*\(\+[\d.]+\)/)
  const points = first.reasons.map((reason) => Number(/\(([+-][\d.]+)\)$/.exec(reason)?.[1]))
  const sum = points.reduce((all, one) => all + one, 0)
  assert.ok(Math.abs(sum - first.score) < 0.1, `${first.reasons.join("; ")}: ${first.score}`)
})

test("route() ranks a person's own specialist by its keywords beside the built-in ones", () => {
  const gardener: AgentSpec = {
    ...agentSpecs[0]!,
    name: "gardener",
    description: "Looks after plants.",
    keywords: ["tomato", "water the plants"],
    cannotDo: ["cut trees"],
  }
  const specs = [...agentSpecs, gardener]
  assert.equal(best("water the plants on the balcony", specs), "gardener")
  assert.notEqual(best("water the plants and cut trees", specs), "gardener")
  assert.equal(best("encrypt the file", specs), "vault")
})
