// Bytes of terminals as keys: tables by terminal, each sequence whole and at every split.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { type Key, writtenKey } from "#edge/tui/input/key.ts"
import { createKeyReader } from "#edge/tui/input/key-reader.ts"
import { createRandom } from "../../../fixture/random.ts"

const tables: Record<string, Record<string, string>> = {
  "plain characters": {
    a: "a",
    A: "shift+a",
    " ": "space",
    ä: "ä",
    Ä: "shift+ä",
    日: "日",
    "👍": "👍",
    "?": "?",
  },
  "control characters": {
    "\r": "enter",
    "\n": "ctrl+j",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "ctrl+h",
    "\x00": "ctrl+space",
    "\x01": "ctrl+a",
    "\x03": "ctrl+c",
    "\x1a": "ctrl+z",
    "\x1c": "ctrl+\\",
    "\x1d": "ctrl+]",
    "\x1e": "ctrl+^",
    "\x1f": "ctrl+_",
  },
  "Alt as a prefix": {
    "\x1bb": "alt+b",
    "\x1bB": "alt+shift+b",
    "\x1b_": "alt+_",
    "\x1b]": "alt+]",
    "\x1b[": "alt+[",
    "\x1bO": "alt+shift+o",
    "\x1bP": "alt+shift+p",
    "\x1b<": "alt+<",
    "\x1bä": "alt+ä",
    "\x1b👍": "alt+👍",
    "\x1b\r": "alt+enter",
    "\x1b\x7f": "alt+backspace",
    "\x1b\x03": "ctrl+alt+c",
  },
  escape: { "\x1b": "escape", "\x1b\x1b": "escape escape", "\x1b\x1b\x1b": "escape escape escape" },
  xterm: {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[F": "end",
    "\x1b[1;2A": "shift+up",
    "\x1b[1;3D": "alt+left",
    "\x1b[1;5C": "ctrl+right",
    "\x1b[1;6C": "ctrl+shift+right",
    "\x1b[1;7C": "ctrl+alt+right",
    "\x1b[1;9C": "alt+right",
    "\x1b[1;5H": "ctrl+home",
    "\x1b[2~": "insert",
    "\x1b[3~": "delete",
    "\x1b[3;5~": "ctrl+delete",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
    "\x1b[Z": "shift+tab",
    "\x1bOP": "f1",
    "\x1bOS": "f4",
    "\x1b[1;2P": "shift+f1",
    "\x1b[15~": "f5",
    "\x1b[24~": "f12",
    "\x1b[24;5~": "ctrl+f12",
    "\x1bOM": "enter",
    "\x1bOu": "5",
    "\x1bO5C": "ctrl+right",
    "\x1b[E": "begin",
  },
  rxvt: {
    "\x1b[a": "shift+up",
    "\x1bOd": "ctrl+left",
    "\x1b[7~": "home",
    "\x1b[8~": "end",
    "\x1b[7$": "shift+home",
    "\x1b[7^": "ctrl+home",
    "\x1b[7@": "ctrl+shift+home",
    "\x1b[3^": "ctrl+delete",
    "\x1b[11~": "f1",
    "\x1b\x1b[A": "alt+up",
    "\x1b\x1bOa": "ctrl+alt+up",
    "\x1b\x1b[3~": "alt+delete",
  },
  "Linux console": {
    "\x1b[[A": "f1",
    "\x1b[[E": "f5",
    "\x1b[17~": "f6",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
  },
  kitty: {
    "\x1b[27u": "escape",
    "\x1b[13;2u": "shift+enter",
    "\x1b[13;3u": "alt+enter",
    "\x1b[13;5u": "ctrl+enter",
    "\x1b[9;2u": "shift+tab",
    "\x1b[127;3u": "alt+backspace",
    "\x1b[32;5u": "ctrl+space",
    "\x1b[99;5u": "ctrl+c",
    "\x1b[99;5:2u": "ctrl+c",
    "\x1b[99;5:3u": "",
    "\x1b[99;69u": "ctrl+c",
    "\x1b[99;133u": "ctrl+c",
    "\x1b[98;4u": "alt+shift+b",
    "\x1b[45;6u": "ctrl+shift+-",
    "\x1b[45:95;6u": "ctrl+_",
    "\x1b[97:65;2u": "shift+a",
    "\x1b[97;2;65u": "shift+a",
    "\x1b[1089::99;5u": "ctrl+c",
    "\x1b[1;5:1D": "ctrl+left",
    "\x1b[1;1:3D": "",
    "\x1b[3;5:2~": "ctrl+delete",
    "\x1b[57400u": "1",
    "\x1b[57414u": "enter",
    "\x1b[57419;5u": "ctrl+up",
    "\x1b[57376u": "f13",
    "\x1b[99;9u": "",
    "\x1b[57441;2u": "",
  },
  modifyOtherKeys: {
    "\x1b[27;2;13~": "shift+enter",
    "\x1b[27;5;13~": "ctrl+enter",
    "\x1b[27;5;9~": "ctrl+tab",
    "\x1b[27;6;67~": "ctrl+shift+c",
    "\x1b[27;5;46~": "ctrl+.",
    "\x1b[27;3;98~": "alt+b",
  },
  tmux: {
    "\x1b[1;5D": "ctrl+left",
    "\x1b[13;2u": "shift+enter",
    "\x1b[I": "focus",
    "\x1b[O": "blur",
    "\x1bOF": "end",
  },
  "sequences without a meaning": {
    "\x1b[99~": "",
    "\x1b[201~": "",
    "\x1b[1;2q": "",
    "\x1b[5 q": "",
    "\x1bOz": "",
  },
}

const replies = [
  "\x1b[?62;22c",
  "\x1b[>1;10;0c",
  "\x1b[24;80R",
  "\x1b[0n",
  "\x1b[?1u",
  "\x1b[?2026;2$y",
  "\x1b[8;24;80t",
  "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
  "\x1b]11;rgb:ffff/ffff/ffff\x07",
  "\x1bP>|tmux 3.4\x1b\\",
  "\x1bP1$r0m\x1b\\",
  "\x1b_Gi=31;OK\x1b\\",
]

for (const [terminal, table] of Object.entries(tables))
  test(`createKeyReader() reads keys of: ${terminal}`, (t) => {
    for (const [bytes, expected] of Object.entries(table)) {
      for (const pieces of splits(Buffer.from(bytes)))
        assert.equal(written(read(t, pieces).keys), expected, JSON.stringify(pieces.map(String)))
    }
  })

test("createKeyReader() passes replies of the terminal on and types nothing", (t) => {
  for (const reply of replies)
    for (const pieces of splits(Buffer.from(reply))) {
      const read1 = read(t, [...pieces, Buffer.from("x")])
      assert.deepEqual(
        [read1.replies, written(read1.keys)],
        [[reply], "x"],
        JSON.stringify(pieces.map(String)),
      )
    }
})

test("createKeyReader() reads every sequence of all tables in one read", (t) => {
  const all = Object.values(tables).flatMap((table) => Object.entries(table))
  // These would begin a sequence together with what follows.
  const whole = all.filter(([bytes]) => !/^\x1b[\x1b[O\]P_]*$/.test(bytes))
  const bytes = Buffer.from(whole.map(([one]) => one).join(replies[0]))
  const expected = whole.map(([, names]) => names).filter(Boolean)
  assert.equal(written(read(t, [bytes]).keys), expected.join(" "))
})

test("createKeyReader() puts characters that belong together into one character per key", (t) => {
  const { keys } = read(t, [Buffer.from("né日👍")])
  assert.deepEqual(
    keys.map(({ text }) => text),
    ["n", "é", "日", "👍"],
  )
})

test("createKeyReader() replaces broken UTF-8 and reads on", (t) => {
  const { keys } = read(t, [
    Buffer.from([0x61, 0xff, 0xc3]),
    Buffer.from([0x62, 0xe6, 0x97]),
    Buffer.from([0x1b]),
  ])
  assert.deepEqual(
    keys.map(({ name, text }) => text ?? name),
    ["a", "\ufffd", "\ufffd", "b", "\ufffd", "escape"],
  )
})

test("createKeyReader() types no text for keys with Ctrl or Alt", (t) => {
  const { keys } = read(t, [Buffer.from("\x1bb\x1b[98;5u\x1b[27;3;98~\x01")])
  assert.deepEqual(
    keys.map(({ text }) => text),
    [undefined, undefined, undefined, undefined],
  )
})

test("createKeyReader() reads a paste at every split, with sequences inside", (t) => {
  const content = "line 1\r\nline 2\r\x1b[A\x1b[200~\x04é\x1b"
  for (const pieces of splits(Buffer.from(`\x1b[200~${content}\x1b[201~x`))) {
    const { keys } = read(t, pieces)
    assert.deepEqual(
      keys.map(({ name, text }) => [name, text]),
      [
        ["paste", content],
        ["x", "x"],
      ],
      JSON.stringify(pieces.map(String)),
    )
  }
})

test("createKeyReader() reads a paste of 1 MB in many reads", (t) => {
  const content = "0123456789 äöü\n".repeat(70_000)
  const bytes = Buffer.from(`\x1b[200~${content}\x1b[201~`)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, at) =>
    bytes.subarray(at * 1_000, (at + 1) * 1_000),
  )
  const { keys } = read(t, pieces)
  assert.equal(keys.length, 1)
  assert.equal(keys[0]!.text, content)
})

test("createKeyReader() ends a paste whose end was lost at a Ctrl-C", (t) => {
  const { keys } = read(t, [Buffer.from("\x1b[200~lost"), Buffer.from("\x03"), Buffer.from("a")])
  assert.deepEqual(
    keys.map(({ name, text }) => text ?? name),
    ["lost", "c", "a"],
  )
})

test("createKeyReader() reads a burst of text as a paste, and its Enter as a key", (t) => {
  const prompt = "explain what this project does, folder by folder, in a few short sentences"
  const { keys } = read(t, [Buffer.from(`${prompt}\r`)])
  assert.deepEqual(
    keys.map(({ name, text }) => [name, text]),
    [
      ["paste", prompt],
      ["enter", undefined],
    ],
  )
})

test("createKeyReader() drops a sequence that never ends, and keeps Ctrl-C", (t) => {
  assert.equal(written(read(t, [Buffer.from("\x1b[1;"), Buffer.from("\x03")]).keys), "ctrl+c")
  assert.equal(written(read(t, [Buffer.from("\x1b]11;rgb"), Buffer.from("\x03")]).keys), "ctrl+c")
  assert.equal(written(read(t, [Buffer.from(`\x1b[${"1;".repeat(500)}`), Buffer.from("a")]).keys), "a")
  assert.equal(written(read(t, [Buffer.from(`\x1b]11;${"x".repeat(70_000)}`), Buffer.from("a")]).keys), "a")
})

test("createKeyReader() waits for the rest of a sequence that is already in the queue", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setImmediate"] })
  const keys: Key[] = []
  const reader = createKeyReader((key) => keys.push(key))
  reader.add(Buffer.from("\x1b"))
  t.mock.timers.tick(10)
  assert.equal(written(keys), "")
  reader.add(Buffer.from("[A"))
  t.mock.timers.tick(1_000)
  assert.equal(written(keys), "up")
})

test("createKeyReader() never throws for random bytes, and reads the next key", (t) => {
  const random = createRandom(17)
  const common = [0x1b, 0x5b, 0x4f, 0x3b, 0x3a, 0x31, 0x32, 0x30, 0x7e, 0x75, 0x5d, 0x07, 0x5c, 0x24, 0x3f]
  for (let round = 0; round < 2_000; round++) {
    const bytes = Array.from({ length: 1 + random(12) }, () =>
      random(3) ? common[random(common.length)]! : random(256),
    )
    const { keys } = read(t, [Buffer.from(bytes), Buffer.from("\x1b[201~\x03")])
    assert.ok(
      keys.some(({ name, ctrl, text }) => (name === "c" && ctrl) || text?.includes("\x03")) ||
        isString(bytes),
    )
  }

  /** The end of a string reply takes the start of what follows. */
  function isString(bytes: number[]): boolean {
    return bytes.includes(0x5d)
  }
})

/** The bytes whole, in single bytes, and in two pieces at every place. */
function splits(bytes: Buffer): Buffer[][] {
  const single = Array.from(bytes, (byte) => Buffer.from([byte]))
  const pairs = single.slice(1).map((_, at) => [bytes.subarray(0, at + 1), bytes.subarray(at + 1)])
  return [[bytes], single, ...pairs]
}

function read(t: TestContext, pieces: Buffer[]): { keys: Key[]; replies: string[] } {
  t.mock.timers.enable({ apis: ["setTimeout", "setImmediate"] })
  const keys: Key[] = []
  const replies: string[] = []
  const reader = createKeyReader(
    (key) => keys.push(key),
    (reply) => replies.push(reply),
  )
  for (const piece of pieces) reader.add(piece)
  t.mock.timers.tick(1_000)
  t.mock.timers.tick(1_000)
  t.mock.timers.reset()
  return { keys, replies }
}

function written(keys: Key[]): string {
  return keys.map(writtenKey).join(" ")
}
