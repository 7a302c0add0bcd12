// Random keys: nothing throws, the caret is always on a cell between two characters, rows fit, and undo leads back to nothing.
import assert from "node:assert/strict"
import { test } from "node:test"
import { actions } from "#edge/tui/input/actions.ts"
import { clustersOf, widthOf } from "#edge/tui/screen/width.ts"
import { createRandom, type Random } from "../../../fixture/random.ts"
import { repeat } from "../../../fixture/soak.ts"
import { createKeyboard } from "./keyboard.ts"

const keys = Object.values(actions).flatMap(({ keys }) => keys.flatMap((key) => key.split(" ")))
const texts = [
  ..."abc  @/!\\\"'\t日本",
  "e\u0301",
  "\u0301",
  "👩‍💻",
  "🇩🇪",
  "🇩",
  "👍🏽",
  "❤️",
  "\u200d",
  "\u202e",
  "\ufffd",
  "한국",
]
const pastes = [
  "line\r\nline",
  "x\n".repeat(30),
  "y".repeat(1_200),
  "/tmp/a.png",
  "",
  "\x1b[31m",
  "日本語 ".repeat(20),
]
const sizes = [
  [19, 4],
  [20, 5],
  [79, 10],
  [5, 1],
  [40, 3],
] as const

/** 460: a search that begins with a mark and a joiner, in five columns. */
const seeds = new Set([...Array(repeat(30, 2_000)).keys(), 460])

for (const seed of seeds)
  test(`random keys keep the editor whole (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const keyboard = createKeyboard({
      entries: ["one", "two\nlines", "日本語 abc", "a b"],
      files: ["/tmp/a.png"],
      complete: async () =>
        pick(random, [[], [{ value: "a b" }, { value: "src/" }, { value: "日本", about: "wide" }]]),
    })
    const done: string[] = []
    for (let step = 0; step < 200; step++) {
      done.push(keyIn(random, keyboard))
      if (random(10) === 0) await new Promise(setImmediate)
      check(keyboard, random, done)
    }
    keyboard.press("escape")
    for (let step = 0; step < 300; step++) keyboard.press("ctrl+_")
    assert.equal(keyboard.editor.text, "", done.join(" "))
  })

function keyIn(random: Random, { press, paste, type }: ReturnType<typeof createKeyboard>): string {
  const kind = random(20)
  if (kind === 0) {
    const text = pick(random, pastes)
    paste(text)
    return `paste ${JSON.stringify(text)}`
  }
  if (kind < 10) {
    const text = pick(random, texts)
    type(text)
    return JSON.stringify(text)
  }
  const key = pick(random, keys)
  press(key)
  return key
}

function check({ editor }: ReturnType<typeof createKeyboard>, random: Random, done: string[]): void {
  const [columns, rows] = pick(random, sizes)
  const { lines, caret } = editor.view(columns, rows)
  const about = `${columns} × ${rows} after ${done.join(" ")}: ${JSON.stringify({ lines, caret })}`
  assert.ok(lines.length >= 1 && lines.length <= rows, about)
  for (const line of lines) assert.ok(widthOf(line) <= columns && !/[\x00-\x1f\x7f]/.test(line), about)
  assert.ok(caret.row >= 0 && caret.row < lines.length && caret.column <= columns, about)
  let column = 0
  const edges = [0, ...clustersOf(lines[caret.row]!).map((cluster) => (column += widthOf(cluster)))]
  assert.ok(edges.includes(caret.column), about)
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)]!
}
