// Guards for each value of a field do what a thread for each value would do, and an event costs the same however many values
// there are.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createProgram } from "#engine/symbolic/create-program.ts"
import { threadFor } from "#engine/symbolic/each-value.ts"
import type { Guard } from "#engine/symbolic/guard.ts"
import {
  actionOf,
  approvalOf,
  type Detail,
  type GuardEvent,
  plainEvent,
  resultOf,
} from "#engine/symbolic/guard-event.ts"
import { configuredGuards } from "#engine/symbolic/load-guards.ts"
import { behavioral, type Event } from "#kernel/behavioral/behavioral.ts"
import { createRandom } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { deed, randomEvent } from "./random-events.ts"

const because = "x"
const configured = {
  "read-before-edit": {},
  "stories-before-answer": {},
  "until-tests": {
    each: "path",
    when: "edit.done",
    block: "answer",
    until: "bash.done:npm test",
    because,
  },
  "after-failure": { each: "path", when: "bash.failed", block: "bash", until: "read", because },
  "each-command": { each: "target", when: "bash.done", block: "bash", until: "prompt", because },
  approved: { each: "path", block: "write", until: "approve", because },
} as const
const guards = () => configuredGuards(configured)
const fail = ({ message }: { message: string }) => assert.fail(message)

test("a guard for each file asks as much of an event after 2 000 files as after 20", () => {
  const { offer, tell } = createProgram(guards(), fail)
  let asked = 0
  /** Patterns read the keys of an event each time they are asked about it. */
  const counted = (event: GuardEvent): GuardEvent => {
    const { keys } = event.detail
    const detail = Object.defineProperty({ ...event.detail }, "keys", {
      get() {
        asked++
        return keys
      },
    })
    return { ...event, detail }
  }
  const change = (i: number) => {
    asked = 0
    const edit = deed("edit", `file.edit:src/${i}.ts`)
    tell(counted(resultOf(deed("read", `file.read:src/${i}.ts`), { hasFailed: false })))
    assert.deepEqual(offer(counted(actionOf(edit))), [])
    tell(counted(resultOf(edit, { hasFailed: false })))
    // These concern every file.
    tell(counted(plainEvent("usage", { tokens: 1, cost: 0 })))
    assert.equal(offer(counted(plainEvent("answer"))).length, 2)
    return asked
  }
  for (let i = 0; i < 20; i++) change(i)
  const early = change(20)
  for (let i = 21; i < 2_000; i++) change(i)
  assert.equal(change(2_000), early)
})

const times = repeat(60, 2_000)
test(`a guard for each value blocks what a thread for each value would block (${times} random sessions)`, () => {
  let blocked = 0
  for (let seed = 1; seed <= times; seed++) {
    const random = createRandom(seed)
    const ours = createProgram(guards(), fail)
    const plain = createPlain(guards())
    for (let step = 0; step < 40; step++) {
      const { event, isFact } = randomEvent(random)
      if (isFact) {
        ours.tell(event)
        plain.tell(event)
        continue
      }
      const found = ours.offer(event)
      assert.deepEqual(
        found.map(({ guard, reason }) => ({ guard, reason })).sort(byName),
        plain.offer(event),
        `seed ${seed}, step ${step}`,
      )
      const approval = approvalOf(event)
      const wait = found.filter(({ waits }) => waits(approval)).map(({ guard }) => guard)
      assert.deepEqual(wait, found.length ? plain.waitFor(event, approval) : [], `seed ${seed}, step ${step}`)
      if (found.length) blocked++
    }
  }
  assert.ok(blocked > times, `${blocked}`)
})

const byName = (a: { guard: string }, b: { guard: string }) => (a.guard < b.guard ? -1 : 1)

/** A thread for each value, in the core. */
function createPlain(guards: readonly Guard[]) {
  const program = behavioral()
  const threads = new Map<string, { guard: Guard; value: string; at: () => Event["detail"] }>()
  const facts = new WeakSet<object>()
  const begin = (event: GuardEvent) => {
    for (const guard of guards) {
      assert.ok("each" in guard)
      const { each } = guard
      const value = (event.detail as Detail)[each.key]
      const name = `${guard.name} ${value}`
      if (value === undefined || threads.has(name) || !each.begins(event)) continue
      const thread = threadFor(each, value)
      let waitFor: unknown
      threads.set(name, { guard, value, at: () => waitFor })
      program.addThread(name, function* () {
        const steps = thread()
        for (let next = steps.next(); !next.done; ) {
          const { block } = next.value
          waitFor = next.value.waitFor
          const isBlocked = (given: Event) => !facts.has(given) && (block as (given: Event) => boolean)(given)
          next = steps.next(yield { ...next.value, ...(block ? { block: isBlocked } : {}) })
        }
      })
    }
  }
  const blockers = (event: GuardEvent) => {
    begin(event)
    const { blockedBy } = program.trigger(event)
    return Map.groupBy(
      blockedBy.map((name) => threads.get(name)!),
      ({ guard }) => guard.name,
    )
  }
  return {
    tell(event: GuardEvent) {
      facts.add(event)
      begin(event)
      program.trigger(event)
    },
    offer(event: GuardEvent) {
      const found = [...blockers(event)].map(([guard, own]) => {
        const { because } = own[0]!.guard
        assert.ok(typeof because === "string")
        return { guard, reason: `${because} (${own.map(({ value }) => value).join(", ")})` }
      })
      return found.sort(byName)
    },
    /** The guards that block the event and all wait for the other one. */
    waitFor(event: GuardEvent, other: GuardEvent): string[] {
      const waiting = [...blockers(event)].filter(([, own]) =>
        own.every(({ at }) => (at() as undefined | ((given: Event) => boolean))?.(other)),
      )
      return guards.map(({ name }) => name).filter((name) => waiting.some(([guard]) => guard === name))
    },
  }
}
