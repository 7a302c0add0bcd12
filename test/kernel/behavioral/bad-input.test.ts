import assert from "node:assert/strict"
import { describe, it } from "node:test"
import {
  behavioral,
  bSync,
  bThread,
  type Event,
  type Idiom,
  type Snapshot,
} from "#kernel/behavioral/behavioral.ts"

const fail = (): never => {
  throw new Error("failed")
}

function record(options?: { maxSteps?: number }) {
  const program = behavioral(options)
  const snapshots: Snapshot[] = []
  program.useSnapshot((snapshot) => void snapshots.push(snapshot))
  /** The errors and limits by thread, and whether the program still takes events. */
  const problems = () =>
    snapshots.flatMap((one) =>
      one.kind === "error" || one.kind === "limit" ? [`${one.kind} ${one.thread}`] : [],
    )
  return { ...program, snapshots, problems }
}

describe("behavioral with bad input", () => {
  it("reports a thread that throws at its start, and goes on", () => {
    const { addThread, trigger, problems } = record()
    // biome-ignore lint/correctness/useYield: it throws
    addThread("generator", function* () {
      fail()
    })
    addThread("function", fail)
    addThread("no generator", (() => ({})) as never)
    assert.deepEqual(problems(), ["error generator", "error function", "error no generator"])
    assert.equal(trigger({ type: "any" }).selected, true)
  })

  it("ends a thread that yields something else than an idiom", () => {
    for (const value of [undefined, null, 5, "block"]) {
      const { addThread, trigger, problems } = record()
      addThread("bad", function* () {
        yield value as unknown as Idiom
      })
      addThread("later", function* () {
        yield { waitFor: "any" }
        yield value as unknown as Idiom
      })
      assert.equal(trigger({ type: "any" }).selected, true)
      assert.deepEqual(problems(), ["error bad", "error later"])
    }
  })

  it("ends a thread whose request function throws or makes no event", () => {
    const { addThread, trigger, problems } = record()
    addThread("throws", bThread([bSync({ request: fail })]))
    addThread("no event", bThread([bSync({ request: (() => undefined) as never })]))
    assert.deepEqual(problems(), ["error throws", "error no event"])
    assert.equal(trigger({ type: "any" }).selected, true)
  })

  it("does not resume or interrupt a thread whose listener throws", () => {
    const { addThread, trigger, problems } = record()
    addThread(
      "waits",
      bThread([bSync({ waitFor: ["other", fail] }), bSync({ request: { type: "resumed" } })]),
    )
    addThread("interrupted", bThread([bSync({ interrupt: fail, block: "blocked" })]))
    assert.equal(trigger({ type: "any" }).selected, true)
    assert.deepEqual(problems(), ["error waits", "error interrupted"])
    assert.deepEqual(trigger({ type: "blocked" }).blockedBy, ["interrupted"])
  })

  it("blocks every event while a thread blocks everything, and names it", () => {
    const { addThread, trigger, snapshots } = record()
    addThread("wall", bThread([bSync({ block: () => true, interrupt: "open" })]))
    addThread("worker", bThread([bSync({ request: { type: "work" } })]))
    assert.deepEqual(snapshots.at(-1), { kind: "deadlock", threads: ["worker"] })
    for (const type of ["any", "open", "__proto__", "constructor", ""])
      assert.deepEqual(trigger({ type }).blockedBy, ["wall"])
  })

  it("ends a thread whose next() throws, and one that goes to a position that does not exist", () => {
    const { addThread, trigger, problems, snapshots } = record()
    addThread("throws", bThread([bSync({ waitFor: "any" }, fail)], true))
    addThread("far", bThread([bSync({ waitFor: "any" }, () => 7), bSync({ block: "any" })]))
    addThread("negative", bThread([bSync({ waitFor: "any" }, () => -1), bSync({ block: "any" })]))
    trigger({ type: "any" })
    assert.deepEqual(problems(), ["error throws", "error negative"])
    assert.equal(trigger({ type: "any" }).selected, true)
    assert.equal(snapshots.filter(({ kind }) => kind === "error").length, 2)
  })

  it("ends each of two threads that request for ever, after the limit each", () => {
    const { addThread, trigger, snapshots } = record({ maxSteps: 50 })
    const endless = (type: string) => bThread([bSync({ request: { type } })], true)
    addThread("wait", bThread([bSync({ block: ["x", "y"], waitFor: "go" })]))
    addThread("one", endless("x"))
    addThread("other", endless("y"))
    trigger({ type: "go" })
    const limits = snapshots.filter(({ kind }) => kind === "limit")
    assert.deepEqual(limits, [
      { kind: "limit", thread: "one", steps: 51 },
      { kind: "limit", thread: "other", steps: 51 },
    ])
    assert.equal(trigger({ type: "x" }).selected, true)
  })

  it("keeps the threads that request after one that requests for ever", () => {
    const { addThread, trigger, problems } = record({ maxSteps: 50 })
    addThread("wait", bThread([bSync({ block: ["x", "y"], waitFor: "go" })]))
    addThread("endless", bThread([bSync({ request: { type: "x" } })], true))
    addThread("guard", bThread([bSync({ request: { type: "y" } }), bSync({ block: "deploy" })]))
    trigger({ type: "go" })
    assert.deepEqual(problems(), ["limit endless"])
    assert.deepEqual(trigger({ type: "deploy" }).blockedBy, ["guard"])
  })

  it("ends a handler that adds threads for ever", () => {
    const { addThread, trigger, useFeedback, problems } = record({ maxSteps: 50 })
    let count = 0
    const add = () => addThread(`thread ${++count}`, bThread([bSync({ request: { type: "x" } })]))
    useFeedback({ x: add })
    add()
    assert.deepEqual(problems(), ["limit thread 51"])
    assert.equal(trigger({ type: "other" }).selected, true)
  })

  it("ends a watcher that triggers blocked events for ever", () => {
    const { addThread, trigger, useSnapshot, problems } = record({ maxSteps: 50 })
    addThread("wall", bThread([bSync({ block: "x" })]))
    useSnapshot(() => void trigger({ type: "x" }))
    assert.equal(trigger({ type: "x" }).selected, false)
    assert.deepEqual(problems(), ["limit undefined"])
  })

  it("ends a thread without rules, and one whose repeat() throws", () => {
    const { addThread, trigger, problems } = record()
    addThread("empty", bThread([], true))
    addThread("throws", bThread([bSync({ waitFor: "x" })], fail))
    assert.equal(trigger({ type: "x" }).selected, true)
    assert.deepEqual(problems(), ["error throws"])
  })

  it("goes on if a watcher or a handler throws, triggers, or adds a thread", () => {
    const { addThread, trigger, useFeedback, useSnapshot, problems } = record()
    const seen: string[] = []
    useSnapshot(fail)
    useFeedback({ a: fail })
    useFeedback({
      a: () => {
        assert.equal(trigger({ type: "b" }).waits, true)
        addThread("late", bThread([bSync({ request: { type: "c" } })]))
      },
      b: () => void seen.push("b"),
      c: () => void seen.push("c"),
    })
    trigger({ type: "a" })
    assert.deepEqual([seen, problems()], [["b", "c"], ["error undefined"]])
  })

  it("gives predicates the type and detail, and never a handler of the prototype", () => {
    const { addThread, trigger, useFeedback, problems } = record()
    const large = ({ type, detail }: Event) => type === "pay" && (detail as number) > 100
    addThread("limit", bThread([bSync({ block: large })]))
    useFeedback({})
    assert.equal(trigger({ type: "pay", detail: 100 }).selected, true)
    assert.equal(trigger({ type: "pay", detail: 101 }).selected, false)
    assert.equal(trigger({ type: "toString" }).selected, true)
    assert.deepEqual(problems(), [])
  })

  it("lets a thread that is added later block what others request, and nothing that was selected before", () => {
    const { addThread, trigger } = record()
    assert.equal(trigger({ type: "x" }).selected, true)
    addThread("guard", bThread([bSync({ block: "x", waitFor: "y" })]))
    assert.equal(trigger({ type: "x" }).selected, false)
    trigger({ type: "y" })
    assert.equal(trigger({ type: "x" }).selected, true)
  })
})
