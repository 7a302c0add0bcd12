// Completion of files and commands: when it is asked, what is shown, what is inserted, and late answers.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Choice, Complete } from "#edge/tui/editor/completion.ts"
import { createKeyboard } from "./keyboard.ts"

const names = ["README.md", "src/", "src/app.ts", "src/my file.ts", "my folder/"]
const commands: Choice[] = [
  { value: "model", about: "choose the model" },
  { value: "mode", about: "choose the approval preset" },
  { value: "quit" },
]
const complete: Complete = async (kind, query) =>
  kind === "command"
    ? commands.filter(({ value }) => value.startsWith(query))
    : names.filter((name) => name.includes(query)).map((value) => ({ value }))

test("`/` at the start lists commands, with what they do", async () => {
  const { type, screen, changes } = createKeyboard({ complete })
  type("/mo")
  await settled()
  assert.equal(changes(), 1)
  assert.deepEqual(screen(), ["> /mo|", "› model  choose the model", "  mode   choose the approval preset"])
})

test("Up and Down select, Tab and Enter accept, and Enter then sends", async () => {
  const { editor, type, press, screen } = createKeyboard({ complete })
  type("/mo")
  await settled()
  press("down")
  assert.equal(screen()[2], "› mode   choose the approval preset")
  press("down down")
  assert.deepEqual(press("enter"), { do: "draw" })
  assert.equal(editor.text, "/mode ")
  assert.equal(press("enter").do, "send")
  type("/mod")
  await settled()
  press("tab")
  assert.equal(editor.text, "/model ")
})

test("Enter sends a command that is typed in full, with or without an answer", async () => {
  const { type, press } = createKeyboard({ complete })
  type("/quit")
  await settled()
  assert.deepEqual(press("enter"), { do: "send", prompt: { text: "/quit", attachments: [], isShell: false } })
  assert.deepEqual(type("/quit\r"), {
    do: "send",
    prompt: { text: "/quit", attachments: [], isShell: false },
  })
})

test("Escape closes the list and lets the turn alone, until another word is typed", async () => {
  const { type, press, screen } = createKeyboard({ complete })
  type("see @src")
  await settled()
  assert.equal(screen().length, 4)
  assert.deepEqual(press("escape"), { do: "draw" })
  assert.deepEqual(screen(), ["> see @src|"])
  type("/")
  await settled()
  assert.deepEqual(screen(), ["> see @src/|"])
  press("tab")
  await settled()
  assert.equal(screen().length, 4)
  press("escape")
  type(" and @RE")
  await settled()
  assert.deepEqual(screen(), ["> see @src/ and @RE|", "› README.md"])
})

test("an Escape that closes a list or a search is no half of a double press", async () => {
  const { type, press } = createKeyboard({ complete })
  type("@src")
  await settled()
  assert.deepEqual(press("escape escape"), { do: "action", action: "app.stop" })
  press("left ctrl+r")
  assert.deepEqual(press("escape escape"), { do: "action", action: "app.stop" })
})

test("accepting a file inserts a reference that the engine finds, with quotes if it has blanks", async () => {
  const table: [string, string][] = [
    ["see @READ", "see @README.md "],
    ["see @my fi", "see @my fi"],
    ['see @"my fi', 'see @"src/my file.ts" '],
    ["see @file", 'see @"src/my file.ts" '],
    ["(@app", "(@src/app.ts "],
    ["a@app", "a@app"],
    ["!ls @app", "!ls @app"],
  ]
  for (const [typed, expected] of table) {
    const { editor, type, press } = createKeyboard({ complete })
    type(typed)
    await settled()
    press("tab")
    assert.equal(editor.text, expected, typed)
  }
})

test("accepting a folder completes the paths inside it", async () => {
  const { editor, type, press, screen } = createKeyboard({ complete })
  type("@sr")
  await settled()
  press("tab")
  assert.equal(editor.text, "@src/")
  await settled()
  assert.deepEqual(screen().slice(1), ["› src/", "  src/app.ts", "  src/my file.ts"])
  editor.set("")
  type("@folder")
  await settled()
  press("tab")
  assert.equal(editor.text, '@"my folder/')
})

test("accepting inside a text leaves what follows", async () => {
  const { editor, type, press } = createKeyboard({ complete })
  type('@"file" is long')
  press("home right right right right right right")
  type("x")
  press("backspace")
  await settled()
  press("tab")
  assert.equal(editor.text, '@"src/my file.ts" is long')
})

test("an answer to an earlier question is dropped, and its question aborted", async () => {
  const asked: { query: string; signal: AbortSignal; answer: (found: Choice[]) => void }[] = []
  const late: Complete = (_, query, signal) => new Promise((answer) => asked.push({ query, signal, answer }))
  const { type, screen } = createKeyboard({ complete: late })
  type("@a")
  type("b")
  assert.deepEqual(
    asked.map(({ query, signal }) => [query, signal.aborted]),
    [
      ["", true],
      ["a", true],
      ["ab", false],
    ],
  )
  asked[2]!.answer([{ value: "ab.ts" }, { value: "cab.ts" }, { value: "a/b.ts" }])
  asked[1]!.answer([{ value: "a.ts" }])
  await settled()
  assert.deepEqual(screen(), ["> @ab|", "› ab.ts", "  cab.ts", "  a/b.ts"])
  type(".")
  assert.deepEqual(screen(), ["> @ab.|", "› ab.ts", "  cab.ts", "  a/b.ts"])
  type("c")
  assert.deepEqual(screen(), ["> @ab.c|"])
})

test("a failing lookup shows no list", async () => {
  const { type, press, screen } = createKeyboard({ complete: () => Promise.reject(new Error("gone")) })
  type("@a")
  await settled()
  assert.deepEqual(screen(), ["> @a|"])
  assert.equal(press("enter").do, "send")
})

test("moving the caret away closes the list", async () => {
  const { type, press, screen } = createKeyboard({ complete })
  type("@app")
  await settled()
  press("home")
  assert.deepEqual(screen(), ["> |@app"])
})

test("the list has at most 8 rows, follows the selection, and fits a small terminal", async () => {
  const many = Array.from({ length: 30 }, (_, number) => ({
    value: `folder/file-${number}.ts`,
    about: "a text that is longer than the row\x1b[31m",
  }))
  const { type, press, screen } = createKeyboard({ complete: async () => many })
  type("@")
  await settled()
  assert.equal(screen(40, 20).length, 9)
  for (let i = 0; i < 20; i++) press("down")
  assert.match(screen(40, 20).join("\n"), /› folder\/file-20\.ts/)
  press("up")
  const small = screen(19, 4)
  assert.equal(small.length, 4)
  assert.equal(small.filter((line) => line.startsWith("›")).length, 1)
  for (const line of small.slice(1)) assert.ok(line.length <= 19)
})

async function settled(): Promise<void> {
  await new Promise(setImmediate)
}

test("behind the name of a command its argument is completed; Enter sends the command with the selected one", async () => {
  const asked: string[] = []
  const { editor, type, press, screen } = createKeyboard({
    complete: async (kind, query) => {
      asked.push(`${kind} ${query}`)
      return kind === "/mode" ? [{ value: "ask" }, { value: "accept edits" }] : []
    },
  })
  type("/mode ")
  await settled()
  assert.deepEqual(screen(), ["> /mode |", "› ask", "  accept edits"])
  assert.equal(press("enter").do, "send")
  type("/mode ac")
  await settled()
  press("down")
  const prompt = { text: "/mode accept edits", attachments: [], isShell: false }
  assert.deepEqual(press("enter"), { do: "send", prompt })
  type("/mode ac")
  await settled()
  press("down tab")
  assert.equal(editor.text, "/mode accept edits ")
  assert.deepEqual(asked.filter((one) => one.startsWith("/mode ")).slice(0, 1), ["/mode "])
})

test("Enter sends a free argument as it is typed, and Tab completes it", async () => {
  const { editor, type, press } = createKeyboard({
    complete: async (kind) => (kind === "/branch" ? [{ value: "idea-2", isFree: true }] : []),
  })
  type("/branch idea")
  await settled()
  const sent = press("enter")
  assert.deepEqual(sent, { do: "send", prompt: { text: "/branch idea", attachments: [], isShell: false } })
  type("/branch idea")
  await settled()
  press("tab")
  assert.equal(editor.text, "/branch idea-2 ")
})
