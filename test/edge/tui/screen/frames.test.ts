// Frames of the renderer, with xterm as the judge: after each frame the terminal has every finished line once, in order, and
// below them the tail.
import assert from "node:assert/strict"
import { test } from "node:test"
import xterm from "@xterm/headless"
import type { Line } from "#edge/tui/screen/line.ts"
import { createScreen } from "#edge/tui/screen/screen.ts"
import { createPaint } from "#edge/tui/screen/style.ts"
import { createRandom, type Random } from "../../../fixture/random.ts"
import { repeat } from "../../../fixture/soak.ts"

const [columns, rows] = [30, 10]
const paint = createPaint({ depth: 24, scheme: "dark" })
const sequences = /\u001b\[[\d;]*m/g

function open() {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
  const drawn = { finished: [] as Line[], tail: [""] as Line[], bytes: "" }
  const screen = createScreen({
    terminal: {
      size: () => ({ columns, rows }),
      write(text) {
        drawn.bytes += text
        terminal.write(text)
      },
    },
    paint: () => paint,
    reflows: true,
    finished: () => drawn.finished.splice(0),
    tail: () => ({ lines: drawn.tail, caret: { row: drawn.tail.length - 1, column: 1 } }),
  })
  /** Rows that the terminal wrapped are one line. */
  async function shown(): Promise<string[]> {
    await new Promise<void>((resolve) => terminal.write("", resolve))
    const { active } = terminal.buffer
    const lines: string[] = []
    for (let i = 0; i < active.length; i++) {
      const row = active.getLine(i)!
      if (row.isWrapped) lines.push(`${lines.pop()}${row.translateToString(true)}`)
      else lines.push(row.translateToString(true))
    }
    return withoutEnd(lines.map((line) => line.trimEnd()))
  }
  return { drawn, screen, shown, terminal }
}

function randomLine(random: Random, count: number): Line {
  const words = `line ${count} ${"ab cd ".repeat(random(4))}`.trimEnd()
  const kinds: (() => Line)[] = [
    () => words,
    () => `${paint("accent", "• ")}${words}`,
    () => `日本 ${words.slice(0, 20)}`,
    () => words.padEnd(columns - 1, "x"),
    // Code is not broken: it takes several rows.
    () => words.padEnd(columns * 2 + random(columns), "y"),
  ]
  return kinds[random(kinds.length)]!()
}

const textOf = (line: Line) => line.replace(sequences, "").trimEnd()
const withoutEnd = (lines: string[]) => lines.join("\n").trimEnd().split("\n")

for (let seed = 1; seed <= repeat(8, 200); seed++)
  test(`random frames leave each finished line once above the tail (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const { drawn, screen, shown, terminal } = open()
    const expected: Line[] = []
    /** What may become finished: the beginning of the tail. */
    let next: Line[] = []
    for (let count = 0; count < 150; count++) {
      const finished = next.splice(0, random(next.length + 1))
      if (random(5) === 0) finished.push(randomLine(random, count))
      expected.push(...finished)
      if (random(2)) drawn.finished.push(...finished)
      else screen.print(finished)
      while (next.length < random(7)) next.push(randomLine(random, count))
      if (random(10) === 0) next = []
      const tail = next.filter((line) => textOf(line).length < columns)
      drawn.tail = [...tail, "", "> ", paint("dim", `status ${random(3)}`)].slice(-(rows - 1))
      screen.draw()
      assert.deepEqual(await shown(), withoutEnd([...expected, ...drawn.tail].map(textOf)), `frame ${count}`)
      const { cursorX, cursorY, baseY } = terminal.buffer.active
      assert.equal(cursorX, 1)
      assert.match(terminal.buffer.active.getLine(baseY + cursorY)!.translateToString(), /^status/)
    }
    screen.end()
    assert.deepEqual(await shown(), withoutEnd(expected.map(textOf)))
  })
