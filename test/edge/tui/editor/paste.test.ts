// Pastes: cleaned, folded if they are long, images as attachments, and quick at any size.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createKeyboard } from "./keyboard.ts"

test("a paste is inserted without control characters, its newlines normalised, and never sent", () => {
  const { editor, paste, press } = createKeyboard()
  assert.deepEqual(paste("a\r\nb\rc\n\td\x1b[31m\x00\x9b"), { do: "draw" })
  assert.equal(editor.text, "a\nb\nc\n\td[31m")
  press("ctrl+_")
  assert.equal(editor.text, "")
})

test("a long paste is folded to one unit and sent in full", () => {
  const { editor, paste, type, press, screen } = createKeyboard()
  const long = Array.from({ length: 120 }, (_, number) => `line ${number}`).join("\n")
  type("see ")
  paste(long)
  type(" there")
  assert.deepEqual(screen(), ["> see [pasted 120 lines] there|"])
  press("alt+b left left left")
  assert.deepEqual(screen(), ["> see| [pasted 120 lines] there"])
  press("right right backspace")
  assert.deepEqual(screen(), ["> see | there"])
  press("ctrl+_")
  assert.equal(editor.text, `see ${long} there`)
  assert.deepEqual(press("enter"), {
    do: "send",
    prompt: { text: `see ${long} there`, attachments: [], isShell: false },
  })
})

test("pastes are folded beyond 8 lines or 1,000 characters", () => {
  const table: [string, string][] = [
    ["x\n".repeat(7), "x"],
    ["x\n".repeat(8), "[pasted 8 lines]"],
    ["x".repeat(1_000), "x"],
    ["x".repeat(1_001), "[pasted 1001 characters]"],
  ]
  for (const [pasted, expected] of table) {
    const { paste, press, screen } = createKeyboard()
    paste(pasted)
    press("ctrl+home")
    assert.equal(screen(2_000)[0], `> |${expected.length > 1 ? expected : pasted.split("\n")[0]}`)
  }
})

test("a killed paste comes back as one unit", () => {
  const { paste, press, screen } = createKeyboard()
  paste("x\n".repeat(20))
  press("ctrl+u")
  assert.deepEqual(screen(), ["> |"])
  press("ctrl+y")
  assert.deepEqual(screen(), ["> [pasted 20 lines]|"])
})

test("a folded paste is cut to the width of a small terminal", () => {
  const { paste, screen } = createKeyboard()
  paste("x\n".repeat(1_000_000))
  assert.deepEqual(screen(19, 4), ["> [pasted 1000000 …|"])
})

test("paths of images become attachments", () => {
  const files = ["/tmp/shot.png", "/tmp/my shot.jpg", "/tmp/it's.png", "/tmp/ä b.webp"]
  const table: [string, string[]][] = [
    ["/tmp/shot.png", ["/tmp/shot.png"]],
    [" /tmp/shot.png\n", ["/tmp/shot.png"]],
    ["'/tmp/shot.png'", ["/tmp/shot.png"]],
    ['"/tmp/my shot.jpg"', ["/tmp/my shot.jpg"]],
    ["/tmp/my shot.jpg", ["/tmp/my shot.jpg"]],
    ["/tmp/my\\ shot.jpg ", ["/tmp/my shot.jpg"]],
    ["'/tmp/it'\\''s.png'", ["/tmp/it's.png"]],
    ["file:///tmp/%C3%A4%20b.webp", ["/tmp/ä b.webp"]],
    ["/tmp/shot.png '/tmp/my shot.jpg'", ["/tmp/shot.png", "/tmp/my shot.jpg"]],
    ["file:///tmp/shot.png\r\nfile:///tmp/my%20shot.jpg\r\n", ["/tmp/shot.png", "/tmp/my shot.jpg"]],
  ]
  for (const [pasted, paths] of table) {
    const { editor, paste } = createKeyboard({ files })
    paste(pasted)
    assert.deepEqual(
      editor.attachments.map(({ path }) => path),
      paths,
      pasted,
    )
  }
})

test("other paths and words stay text", () => {
  for (const pasted of [
    "/tmp/missing.png",
    "/tmp/notes.txt",
    "look at /tmp/shot.png",
    "shot.png",
    "file://%zz.png",
    "'/tmp/shot.png",
  ]) {
    const { editor, paste } = createKeyboard({ files: ["/tmp/shot.png", "/tmp/notes.txt"] })
    paste(pasted)
    assert.deepEqual([editor.attachments, editor.text], [[], pasted])
  }
})

test("an image is shown by its name, deleted as one, and sent as an attachment", () => {
  const { editor, paste, type, press, screen } = createKeyboard({ files: ["/tmp/shot.png"] })
  paste("/tmp/shot.png")
  type("what is this?")
  assert.deepEqual(screen(), ["> [image shot.png] what is this?|"])
  const prompt = {
    text: "[image shot.png] what is this?",
    attachments: [{ path: "/tmp/shot.png", label: "[image shot.png]" }],
    isShell: false,
  }
  assert.deepEqual(press("enter"), { do: "send", prompt })
  paste("/tmp/shot.png")
  press("backspace backspace")
  assert.deepEqual([editor.text, editor.attachments], ["", []])
})

test("an image keeps its attachment when the text was edited elsewhere", () => {
  const { editor, paste } = createKeyboard({ files: ["/tmp/shot.png"] })
  paste("/tmp/shot.png")
  editor.set("New text:\n[image shot.png]!")
  assert.deepEqual(editor.attachments, [{ path: "/tmp/shot.png", label: "[image shot.png]" }])
  editor.set("no image")
  assert.deepEqual(editor.attachments, [])
})

test("a paste of 1 MB is one unit in the history of steps, and keys after it stay cheap", () => {
  const { editor, paste, type, press, screen } = createKeyboard()
  const large = "0123456789 äöü 日本\n".repeat(60_000)
  paste(large)
  for (let round = 0; round < 2_000; round++) type("x ")
  assert.ok(screen(80, 5)[0]!.length > 0)
  press("ctrl+home delete")
  assert.equal(editor.text, "x ".repeat(2_000))
})
