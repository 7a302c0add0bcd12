import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { type Action, explore } from "#engine/explore/explore.ts"
import { behavioral, bSync, bThread, type Thread } from "#kernel/behavioral/behavioral.ts"
import { repeat } from "../../fixture/soak.ts"
import { dine, dinner, waiter } from "../../kernel/behavioral/philosophers.ts"
import { letters, randomThreads } from "../../kernel/behavioral/random-threads.ts"
import { alphabet, brokenSets, rightSet } from "./broken-sets.ts"

const required = ["answer"]
const only = <K extends string>(kind: K, { findings }: ReturnType<typeof explore>) =>
  findings.filter((one): one is Extract<typeof one, { kind: K }> => one.kind === kind)

describe("explore()", () => {
  for (const { what, threads, deadlock } of brokenSets)
    it(`finds the deadlock if ${what}`, () => {
      const [first] = only("deadlock", explore({ threads, alphabet, required }))
      assert.equal(first?.action, "answer")
      const blockedBy = first?.blockedBy.map(({ thread }) => thread)
      assert.deepEqual({ blockedBy, trace: first?.trace }, deadlock)
      // The trace is true: the core blocks the answer after the same events.
      assert.deepEqual(play(threads, deadlock!.trace).trigger({ type: "answer" }).blockedBy, blockedBy)
    })

  it("finds nothing in a set that is right", () => {
    assert.deepEqual(explore({ threads: rightSet.threads, alphabet, required }), {
      states: 6,
      isComplete: true,
      findings: [],
      unexplored: [],
    })
  })

  it("says what the guards of a deadlock wait for, and who blocks that", () => {
    const { threads } = brokenSets.find(({ what }) => what.startsWith("another guard"))!
    const [first] = only("deadlock", explore({ threads, alphabet, required }))
    assert.deepEqual(first?.blockedBy, [
      { thread: "tests pass", waitsFor: [{ event: "test.done", blockedBy: ["frozen after deploy"] }] },
    ])
  })

  it("reports guards that block what the other waits for as a contradiction", () => {
    const cycles = brokenSets.map(({ threads }) =>
      only("contradiction", explore({ threads, alphabet, required })).map((one) =>
        one.threads.map(({ thread }) => thread),
      ),
    )
    assert.deepEqual(cycles.flat(), [["test first"], ["edit after test", "test after edit"], ["a", "b", "c"]])
  })

  it("names guards that block nothing", () => {
    const { findings } = explore({
      alphabet,
      required,
      threads: [
        ["no such action", bThread([bSync({ block: "publish" })])],
        ["never reached", bThread([bSync({ waitFor: "review.done" }), bSync({ block: "deploy" })])],
        ["only results", bThread([bSync({ block: "edit.done" })])],
        ["works", bThread([bSync({ block: "deploy" })])],
        ["observes", bThread([bSync({ waitFor: "deploy" })], true)],
      ],
    })
    assert.deepEqual(findings, [
      { kind: "idle", thread: "no such action", reason: "it blocks no action of the alphabet" },
      { kind: "idle", thread: "never reached", reason: "its rule 2 is never reached" },
      { kind: "idle", thread: "only results", reason: "it blocks no action of the alphabet" },
    ])
  })

  it("names threads that cannot be explored, and explores the others", () => {
    const free: Thread = function* () {
      yield { block: "answer" }
    }
    const { unexplored, findings } = explore({
      alphabet,
      required,
      threads: [
        ["free", free],
        ["repeats", bThread([bSync({ block: "answer" })], () => true)],
        ["makes events", bThread([bSync({ request: () => ({ type: "x" }) })])],
        [
          "throws",
          bThread([
            bSync({
              block: ({ type }) => {
                if (type === "answer") throw new Error("no answer")
                return false
              },
            }),
          ]),
        ],
      ],
    })
    assert.deepEqual(unexplored, [
      { thread: "free", reason: "it is a generator function, whose state cannot be seen" },
      { thread: "repeats", reason: "its repeat is a function" },
      { thread: "makes events", reason: "a request of it is a function" },
      { thread: "throws", reason: "its code throws: no answer" },
    ])
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["deadlock"],
    )
  })

  it("reports a thread that requests for ever", () => {
    const endless = bThread([bSync({ waitFor: "approve" }), bSync({ request: { type: "again" } }, () => 1)])
    assert.deepEqual(explore({ alphabet, threads: [["endless", endless]] }).findings, [
      { kind: "endless", thread: "endless", trace: ["approve"] },
    ])
  })

  it("stops at its limit of states, and claims nothing about what it has not seen", () => {
    const result = explore({ threads: brokenSets[6]!.threads, alphabet, required, maxStates: 2 })
    assert.deepEqual(result, { states: 2, isComplete: false, findings: [], unexplored: [] })
  })

  it("finds that five philosophers can starve, and that they cannot with a waiter", () => {
    const table: Action[] = dine.map((event) => ({ name: `${event.type} ${event.detail}`, event }))
    const [starved] = only("deadlock", explore({ threads: dinner(), alphabet: table }))
    assert.deepEqual(
      starved?.trace,
      [0, 1, 2, 3, 4].map((i) => `take left ${i}`),
    )
    assert.deepEqual(explore({ threads: [...dinner(), waiter], alphabet: table }).findings, [])
  })

  it("reaches the states that random programs reach in the core, and no others", () => {
    const events = letters.map((type) => ({ name: type, event: { type } }))
    for (let seed = 1; seed <= repeat(150, 3_000); seed++) {
      const threads = randomThreads(seed, { most: 4 })
      const { states, findings } = explore({ threads, alphabet: events })
      // The core ends an endless thread after many steps, the exploration when a state comes back.
      if (findings.some(({ kind }) => kind === "endless")) continue
      assert.equal(states, countStates(threads), `seed ${seed}`)
    }
  })
})

function play(threads: readonly (readonly [string, Thread])[], trace: readonly string[]) {
  const program = behavioral({ maxSteps: 200 })
  for (const [name, thread] of threads) program.addThread(name, thread)
  for (const type of trace) assert.equal(program.trigger({ type }).selected, true)
  return program
}

/** The states of the core: the rules that its threads have come to, after each sequence of triggers. */
function countStates(threads: ReturnType<typeof randomThreads>): number {
  const at = new Map<string, number>()
  const traced = threads.map(([name, { rules, repeat }]): [string, Thread] => [
    name,
    function* () {
      try {
        do {
          for (let i = 0; i < rules.length; ) {
            at.set(name, i)
            const event = yield rules[i]!.idiom
            i = rules[i]!.next?.(event) ?? i + 1
          }
        } while (repeat)
      } finally {
        at.set(name, -1)
      }
    },
  ])
  const seen = new Set<string>()
  const traces: string[][] = [[]]
  for (const trace of traces) {
    at.clear()
    play(traced, trace)
    const state = JSON.stringify([...at].sort())
    if (seen.has(state)) continue
    seen.add(state)
    for (const type of letters)
      if (play(traced, trace).trigger({ type }).selected) traces.push([...trace, type])
  }
  return seen.size
}
