// The renderer in a real terminal: finished lines are in the scrollback once, also after resizes.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { openXterm } from "../../../fixture/xterm.ts"

const program = `'${process.execPath}' '${fileURLToPath(new URL("../../../fixture/draw-lines.ts", import.meta.url))}'`
/** Clears of the screen and the scrollback, scroll regions, the alternate screen, the mouse. */
const forbidden =
  /\u001b\[[23]J|\u001b\[\d*;?\d*r|\u001b\[\d*[ST]|\u001b\[\?(?:1049|47|1047|100[0-36]|1015)[hl]/

/** 60, 120 and 180 lines; a busy machine may skip the frame of one number. */
const reached = [/status ([6-9]\d|\d{3})/, /status (1[2-9]|2\d)\d/, /status (1[89]|2\d)\d/]

async function draw(resizes: [number, number][]) {
  const tmp = await tmpdir()
  const terminal = await openXterm(tmp, [], {
    program,
    columns: 120,
    rows: 40,
    before: "echo printed before; stty -g > before",
    after: "stty -g > after",
  })
  for (const [i, [columns, rows]] of resizes.entries()) {
    await terminal.sees(reached[i]!)
    terminal.resize({ columns, rows })
  }
  await terminal.sees(/status 260/)
  terminal.type("q")
  assert.equal(await terminal.exit, 0)
  const all = terminal.all()
  const counts = Array.from(
    { length: 260 },
    (_, i) => all.split(`line-${String(i).padStart(3, "0")}-`).length - 1,
  )
  const bytes = terminal.bytes()
  const modes = ["before", "after"].map((name) => readFileSync(join(tmp.path, name), "utf8"))
  await terminal[Symbol.asyncDispose]()
  await tmp[Symbol.asyncDispose]()
  return { all, counts, bytes, modes }
}

for (const resizes of [
  [],
  [
    [80, 30],
    [120, 40],
    [60, 20],
  ],
] as [number, number][][])
  test(`260 finished lines are in the scrollback once after ${resizes.length} resizes`, async () => {
    const { all, counts, bytes, modes } = await draw(resizes)
    assert.deepEqual([counts.filter((n) => n === 0).length, counts.filter((n) => n > 1).length], [0, 0], all)
    assert.match(all, /^printed before$/m)
    assert.doesNotMatch(bytes, forbidden)
    assert.equal(modes[0], modes[1])
    assert.equal(all.match(/status \d+/g), null, all)
  })
