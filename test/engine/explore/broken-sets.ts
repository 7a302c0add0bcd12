// Ten sets of guards with a planted mistake, and one that is right.

import type { Action } from "#engine/explore/explore.ts"
import { bSync, bThread, type Event, type Thread } from "#kernel/behavioral/behavioral.ts"

export type GuardSet = {
  what: string
  threads: [string, Thread][]
  /** The guards that a deadlock of the answer must name, and the shortest trace to it. */
  deadlock?: { blockedBy: string[]; trace: string[] }
}

/** A tool: its call may be blocked, its result not. */
const tool = (name: string, ...results: string[]): Action => ({
  name,
  event: { type: name },
  results: results.map((result) => ({ name: `${name}.${result}`, event: { type: `${name}.${result}` } })),
})
export const alphabet: Action[] = [
  tool("read", "done"),
  tool("edit", "done"),
  tool("test", "done", "failed"),
  tool("deploy", "done"),
  { name: "answer", event: { type: "answer" } },
  { name: "approve", event: { type: "approve" }, isFact: true },
]

/** Blocks after `when` until `until`, as a guard of the configuration does. */
const guard = (when: string | undefined, block: string | string[], until?: string): Thread => {
  const blocking = bSync({ block, ...(until ? { waitFor: until } : {}) })
  return when ? bThread([bSync({ waitFor: when }), blocking], true) : bThread([blocking])
}
const testsPass: [string, Thread] = ["tests pass", guard("edit.done", "answer", "test.done")]
const isType = (type: string) => (event: Event) => event.type === type

export const brokenSets: GuardSet[] = [
  {
    what: "an event that no tool has ends the block",
    threads: [["reviewed", guard("edit.done", "answer", "review.done")]],
    deadlock: { blockedBy: ["reviewed"], trace: ["edit", "edit.done"] },
  },
  {
    what: "nothing ends the block",
    threads: [["no answer", guard("read.done", "answer")]],
    deadlock: { blockedBy: ["no answer"], trace: ["read", "read.done"] },
  },
  {
    what: "a guard blocks what it waits for",
    threads: [["test first", guard(undefined, ["test", "answer"], "test.done")]],
    deadlock: { blockedBy: ["test first"], trace: [] },
  },
  {
    what: "another guard blocks for ever what the first waits for",
    threads: [testsPass, ["frozen after deploy", guard("deploy.done", "test")]],
    deadlock: { blockedBy: ["tests pass"], trace: ["edit", "edit.done", "deploy", "deploy.done"] },
  },
  {
    what: "two guards block what the other waits for",
    threads: [
      ["edit after test", guard("read.done", ["edit", "answer"], "test.done")],
      ["test after edit", guard("read.done", "test", "edit.done")],
    ],
    deadlock: { blockedBy: ["edit after test"], trace: ["read", "read.done"] },
  },
  {
    what: "three guards wait in a circle",
    threads: [
      ["a", guard("read.done", ["edit", "answer"], "test.done")],
      ["b", guard("read.done", "test", "deploy.done")],
      ["c", guard("read.done", "deploy", "edit.done")],
    ],
    deadlock: { blockedBy: ["a"], trace: ["read", "read.done"] },
  },
  {
    what: "a counter has no way back",
    threads: [
      [
        "two edits at most",
        bThread([
          bSync({ waitFor: "edit.done" }),
          bSync({ waitFor: "edit.done" }),
          bSync({ block: ["edit", "answer"], waitFor: "look" }),
        ]),
      ],
    ],
    deadlock: { blockedBy: ["two edits at most"], trace: ["edit", "edit.done", "edit", "edit.done"] },
  },
  {
    what: "the rule after the block goes back to itself",
    threads: [
      [
        "loops",
        bThread([
          bSync({ waitFor: "approve" }),
          bSync({ block: isType("answer"), waitFor: ["test.done", "test.failed"] }, () => 1),
        ]),
      ],
    ],
    deadlock: { blockedBy: ["loops"], trace: ["approve"] },
  },
  {
    what: "two guards block the answer in turn",
    threads: [
      [
        "even",
        bThread([bSync({ block: "answer", waitFor: "test.done" }), bSync({ waitFor: "test.done" })], true),
      ],
      [
        "odd",
        bThread([bSync({ waitFor: "test.done" }), bSync({ block: "answer", waitFor: "test.done" })], true),
      ],
    ],
    deadlock: { blockedBy: ["even"], trace: [] },
  },
  {
    what: "a request of one thread is blocked by another, and the answer waits for it",
    threads: [
      ["reporter", bThread([bSync({ waitFor: "edit.done" }), bSync({ request: { type: "report" } })], true)],
      ["reported", guard("edit.done", "answer", "report")],
      ["quiet", guard("deploy.done", "report")],
    ],
    deadlock: { blockedBy: ["reported"], trace: ["deploy", "deploy.done", "edit", "edit.done"] },
  },
]

export const rightSet: GuardSet = {
  what: "guards that always let the answer through in the end",
  threads: [
    testsPass,
    [
      "approved",
      bThread([bSync({ block: "deploy", waitFor: "approve" }), bSync({ waitFor: "deploy" })], true),
    ],
    ["read first", guard(undefined, "edit", "read.done")],
  ],
}
