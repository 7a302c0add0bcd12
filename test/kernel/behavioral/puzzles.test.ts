// The classic puzzles of behavioral programming.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { behavioral, bSync, bThread, type Event, type Program } from "#kernel/behavioral/behavioral.ts"
import { createRandom } from "../../fixture/random.ts"
import { dine, dinner, philosophers, waiter } from "./philosophers.ts"

describe("tic-tac-toe", () => {
  it("is never lost by O, whatever X plays", () => {
    const ends = { X: 0, O: 0, draw: 0 }
    /** Games are replayed from the start, since a program cannot go back. */
    const explore = (moves: readonly number[]) => {
      const { program, board, winner } = playTicTacToe()
      for (const move of moves) assert.equal(program.trigger(x(move)).selected, true)
      const free = [...Array(9).keys()].filter((square) => !board.has(square))
      if (!winner.length && free.length) {
        assert.equal(board.size, 2 * moves.length, `O did not answer ${moves}`)
        for (const move of free) explore([...moves, move])
      } else ends[winner[0] ?? "draw"]++
      for (const taken of board.keys()) assert.equal(program.trigger(x(taken)).selected, false)
    }
    explore([])
    assert.equal(ends.X, 0)
    assert.ok(ends.O > 100 && ends.draw > 20, JSON.stringify(ends))
  })
})

describe("dining philosophers", () => {
  it("starve if each has taken one fork, and every blocked event names the forks", () => {
    const program = behavioral()
    for (const [name, thread] of dinner()) program.addThread(name, thread)
    for (const i of philosophers)
      assert.equal(program.trigger({ type: "take left", detail: i }).selected, true)
    for (const event of dine) assert.equal(program.trigger(event).selected, false)
    assert.deepEqual(program.trigger({ type: "take right", detail: 0 }).blockedBy, ["fork 1"])
  })

  it("never starve with a waiter who seats four of five", () => {
    const program = behavioral()
    for (const [name, thread] of [...dinner(), waiter]) program.addThread(name, thread)
    const eaten = new Set<unknown>()
    program.useSnapshot((snapshot) => {
      if (snapshot.kind !== "selection") return
      for (const { type, detail, selected } of snapshot.candidates)
        if (selected && type === "take right") eaten.add(detail)
    })
    const pick = createRandom(7)
    for (let round = 0; round < 300; round++) {
      // Every event is offered once a round, in another order, so that somebody must be able to go on.
      const order = dine.map((event) => ({ event, at: pick(1_000_000) })).sort((a, b) => a.at - b.at)
      assert.ok(order.some(({ event }) => program.trigger(event).selected))
    }
    assert.equal(eaten.size, philosophers.length)
  })
})

const x = (square: number): Event => ({ type: "X", detail: square })
const lines = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
]

/** The rules of the game, then O's strategy: each rule is a thread, and the first thread whose move is possible plays. */
function playTicTacToe(): { program: Program; board: Map<number, string>; winner: ("X" | "O")[] } {
  const program = behavioral()
  const board = new Map<number, string>()
  const winner: ("X" | "O")[] = []
  program.useFeedback({
    X: (square) => void board.set(square as number, "X"),
    O: (square) => void board.set(square as number, "O"),
    win: (player) => void winner.push(player as "X" | "O"),
  })
  let count = 0
  const add = (what: string, rules: ReturnType<typeof bSync>[], repeat = false) =>
    program.addThread(`${what} ${++count}`, bThread(rules, repeat))
  const move = (square: number) => bSync({ request: { type: "O", detail: square } })
  const taken = (square: number) => (event: Event) => event.type !== "win" && event.detail === square

  for (let square = 0; square < 9; square++)
    add("square", [bSync({ waitFor: taken(square) }), bSync({ block: taken(square) })])
  add("turns", [bSync({ waitFor: "X", block: "O" }), bSync({ waitFor: "O", block: "X" })], true)
  for (const player of ["X", "O"])
    for (const line of lines) {
      const onLine = (event: Event) => event.type === player && line.includes(event.detail as number)
      const one = bSync({ waitFor: onLine })
      add("win", [one, one, one, bSync({ request: { type: "win", detail: player } })])
    }
  add("end", [bSync({ waitFor: "win" }), bSync({ block: ["X", "O"] })])

  /** After the player has taken both squares, O takes the third. */
  const answer = (what: string, player: "X" | "O", both: readonly number[], third: number) => {
    const one = bSync({ waitFor: ({ type, detail }) => type === player && both.includes(detail as number) })
    add(what, [one, one, move(third)])
  }
  for (const player of ["O", "X"] as const)
    for (const line of lines) for (const third of line) answer("third", player, without(line, third), third)
  answer("edge against opposite corners", "X", [0, 8], 1)
  answer("edge against opposite corners", "X", [2, 6], 1)
  // O takes the centre unless X has it, so that a fork is at a corner.
  const sides = lines.filter((line) => !line.includes(4))
  for (const [i, one] of sides.entries())
    for (const other of sides.slice(i + 1))
      for (const fork of one.filter((square) => other.includes(square)))
        for (const a of without(one, fork))
          for (const b of without(other, fork)) answer("fork", "X", [a, b], fork)
  for (const square of [4, 0, 2, 6, 8, 1, 3, 5, 7]) add("free", [move(square)])
  return { program, board, winner }
}

function without(line: readonly number[], square: number): number[] {
  return line.filter((one) => one !== square)
}
