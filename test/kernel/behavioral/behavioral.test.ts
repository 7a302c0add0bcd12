import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { behavioral, bSync, bThread, type Snapshot } from "#kernel/behavioral/behavioral.ts"

const request = (type: string) => bSync({ request: { type } })

function record(...types: string[]) {
  const program = behavioral()
  const [seen, snapshots]: [string[], Snapshot[]] = [[], []]
  program.useFeedback(Object.fromEntries(types.map((type) => [type, () => void seen.push(type)])))
  program.useSnapshot((snapshot) => void snapshots.push(snapshot))
  return { ...program, seen, snapshots }
}

describe("behavioral", () => {
  it("mixes hot and cold water in turn", () => {
    const { addThread, seen } = record("hot", "cold")
    addThread(
      "in turn",
      bThread([bSync({ waitFor: "hot", block: "cold" }), bSync({ waitFor: "cold", block: "hot" })], true),
    )
    addThread("hot", bThread([request("hot"), request("hot"), request("hot")]))
    addThread("cold", bThread([request("cold"), request("cold"), request("cold")]))
    assert.deepEqual(seen, ["hot", "cold", "hot", "cold", "hot", "cold"])
  })

  it("drops a trigger that a thread blocks, and says which thread", () => {
    const { addThread, trigger, seen } = record("deploy", "approve")
    addThread(
      "approval",
      bThread([bSync({ block: "deploy", waitFor: "approve" }), bSync({ waitFor: "deploy" })], true),
    )
    assert.deepEqual(trigger({ type: "deploy" }), { selected: false, blockedBy: ["approval"], waits: false })
    trigger({ type: "approve" })
    assert.equal(trigger({ type: "deploy" }).selected, true)
    assert.equal(trigger({ type: "deploy" }).selected, false)
    assert.deepEqual(seen, ["approve", "deploy"])
  })

  it("goes on at the rule that the event selects", () => {
    const { addThread, trigger } = record()
    const back = (event: { type: string }) => (event.type === "look" ? 0 : undefined)
    addThread(
      "two writes at most",
      bThread(
        [
          bSync({ waitFor: ["write", "look"] }, back),
          bSync({ waitFor: ["write", "look"] }, back),
          bSync({ waitFor: "look", block: "write" }),
        ],
        true,
      ),
    )
    const write = () => trigger({ type: "write" }).selected
    assert.deepEqual([write(), trigger({ type: "look" }).selected], [true, true])
    assert.deepEqual([write(), write(), write()], [true, true, false])
    trigger({ type: "look" })
    assert.equal(write(), true)
  })

  it("ends an interrupted thread, and runs its finally", () => {
    const { addThread, trigger, seen } = record("step", "closed")
    let isClosed = false
    addThread("worker", function* () {
      try {
        yield { waitFor: "step", interrupt: "stop" }
        yield { request: { type: "closed" } }
      } finally {
        isClosed = true
      }
    })
    trigger({ type: "stop" })
    trigger({ type: "step" })
    assert.deepEqual([seen, isClosed], [["step"], true])
  })

  it("does not replace a thread", () => {
    const { addThread } = record()
    addThread("guard", bThread([bSync({ block: "x" })]))
    assert.throws(() => addThread("guard", bThread([])), /a thread named guard exists already/)
  })

  it("reports a thread that throws, and the others go on", () => {
    const { addThread, seen, snapshots } = record("fine")
    addThread("broken", function* () {
      yield { request: { type: "start" } }
      throw new Error("no luck")
    })
    addThread("healthy", bThread([request("fine")]))
    assert.deepEqual(seen, ["fine"])
    assert.deepEqual(
      snapshots.filter(({ kind }) => kind === "error"),
      [{ kind: "error", thread: "broken", message: "no luck" }],
    )
  })

  it("blocks with a listener that throws", () => {
    const { addThread, trigger, snapshots } = record()
    addThread(
      "broken",
      bThread([
        bSync({
          block: () => {
            throw new Error("bad test")
          },
        }),
      ]),
    )
    assert.deepEqual(trigger({ type: "any" }).blockedBy, ["broken"])
    assert.ok(snapshots.some((one) => one.kind === "error" && one.thread === "broken"))
  })

  it("reports a handler that throws", () => {
    const { addThread, useFeedback, snapshots } = record()
    useFeedback({
      go() {
        throw new Error("handler failed")
      },
    })
    addThread("go", bThread([request("go")]))
    assert.ok(snapshots.some((one) => one.kind === "error" && one.message === "handler failed"))
  })

  it("reports a deadlock", () => {
    const { addThread, trigger, snapshots } = record()
    const start = bSync({ waitFor: "start" })
    addThread("left", bThread([start, bSync({ request: { type: "a" }, block: "b" })]))
    addThread("right", bThread([start, bSync({ request: { type: "b" }, block: "a" })]))
    trigger({ type: "start" })
    assert.deepEqual(snapshots.at(-1), { kind: "deadlock", threads: ["left", "right"] })
  })

  it("ends a thread that requests for ever, and one more thread goes on", () => {
    const { addThread, trigger, snapshots, seen } = record("late")
    addThread("endless", bThread([request("again")], true))
    assert.ok(snapshots.some((one) => one.kind === "limit" && one.thread === "endless"))
    assert.equal(trigger({ type: "late" }).selected, true)
    assert.deepEqual(seen, ["late"])
  })

  it("ends handlers that trigger for ever", () => {
    const { trigger, useFeedback, snapshots } = record()
    useFeedback({ ping: () => void trigger({ type: "pong" }), pong: () => void trigger({ type: "ping" }) })
    trigger({ type: "ping" })
    assert.ok(snapshots.some((one) => one.kind === "limit" && one.thread === undefined))
  })

  it("says for each candidate who requested it, its priority and what became of it", () => {
    const { addThread, snapshots } = record()
    addThread("guard", bThread([bSync({ block: "b", waitFor: "a" })]))
    addThread("second", bThread([request("b")]))
    addThread("third", bThread([request("a")]))
    const both = snapshots.find((one) => one.kind === "selection" && one.candidates.length === 2)
    assert.deepEqual(both, {
      kind: "selection",
      candidates: [
        { thread: "second", type: "b", priority: 2, selected: false, blockedBy: ["guard"] },
        { thread: "third", type: "a", priority: 3, selected: true, blockedBy: [] },
      ],
    })
  })
})
