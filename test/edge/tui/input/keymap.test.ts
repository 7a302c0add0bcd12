// Keys as actions: the defaults, double presses, and the person's setting.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type Action, actions } from "#edge/tui/input/actions.ts"
import { type Key, parseKey, writtenKey } from "#edge/tui/input/key.ts"
import { type Bindings, createKeymap, InvalidKeys } from "#edge/tui/input/keymap.ts"

test("parseKey() reads every way to write a key", () => {
  const table: Record<string, string | undefined> = {
    "ctrl+enter": "ctrl+enter",
    "Ctrl-Enter": "ctrl+enter",
    "shift+alt+ctrl+f12": "ctrl+alt+shift+f12",
    "option+left": "alt+left",
    Esc: "escape",
    "ctrl++": "ctrl++",
    "ctrl+-": "ctrl+-",
    "ctrl--": "ctrl+-",
    "alt+ä": "alt+ä",
    "ctrl+pgup": "ctrl+pageup",
    "ctrl+": undefined,
    "ctrl+foo": undefined,
    "hyper+a": undefined,
    f25: undefined,
    "": undefined,
  }
  for (const [text, expected] of Object.entries(table)) {
    const key = parseKey(text)
    assert.equal(key && writtenKey(key), expected, text)
  }
})

test("every default key has the form that parseKey() writes", () => {
  for (const { keys } of Object.values(actions))
    for (const key of keys.flatMap((press) => press.split(" "))) assert.equal(writtenKey(parseKey(key)!), key)
})

test("createKeymap() knows the default keys", () => {
  const keymap = createKeymap()
  const table: Record<string, Action[]> = {
    enter: ["app.send"],
    "shift+enter": ["app.newline"],
    "alt+enter": ["app.newline"],
    "shift+tab": ["app.cycleMode"],
    "ctrl+d": ["app.quit", "editor.deleteForward"],
    "ctrl+w": ["editor.deleteBlankWordBack"],
    a: [],
  }
  for (const [key, expected] of Object.entries(table))
    assert.deepEqual(keymap.actionsOf(pressed(key)), expected)
  assert.deepEqual(keymap.keysOf("app.newline"), ["shift+enter", "alt+enter", "ctrl+j"])
})

test("createKeymap() tells a double press from two presses with a pause", (t) => {
  t.mock.timers.enable({ apis: ["Date"] })
  const keymap = createKeymap()
  const press = (key: string) => keymap.actionsOf(pressed(key))
  assert.deepEqual(press("escape"), ["app.stop"])
  assert.deepEqual(press("escape"), ["app.back", "app.stop"])
  assert.deepEqual(press("escape"), ["app.stop"])
  t.mock.timers.tick(2_000)
  assert.deepEqual(press("escape"), ["app.stop"])
  assert.deepEqual(press("left"), ["editor.left"])
  assert.deepEqual(press("escape"), ["app.stop"])
  assert.deepEqual(press("ctrl+c"), ["app.clear"])
  assert.deepEqual(press("ctrl+c"), ["app.quit", "app.clear"])
})

test("Keymap.bind() puts the person's keys over the defaults", () => {
  const keymap = createKeymap()
  keymap.bind({ "app.send": "ctrl+enter", "app.redraw": ["ctrl+k", "f5"], "app.suspend": [] })
  assert.deepEqual(keymap.actionsOf(pressed("ctrl+enter")), ["app.send"])
  assert.deepEqual(keymap.actionsOf(pressed("enter")), [])
  assert.deepEqual(keymap.actionsOf(pressed("ctrl+k")), ["app.redraw"])
  assert.deepEqual(keymap.actionsOf(pressed("f5")), ["app.redraw"])
  assert.deepEqual(keymap.actionsOf(pressed("ctrl+z")), [])
  keymap.bind({})
  assert.deepEqual(keymap.actionsOf(pressed("enter")), ["app.send"])
})

test("Keymap.bind() refuses what it cannot use, and keeps the keys it had", () => {
  const table: [Bindings, RegExp][] = [
    [{ "app.sned": "ctrl+enter" }, /terminal.keys: there is no action "app.sned". Did you mean "app.send"\?/],
    [{ "nothing.like.it.at.all": "f1" }, /Actions: app.send, app.newline/],
    [
      { "app.send": "ctrl+foo" },
      /"ctrl\+foo" for "app.send" is no key; expected a form such as "ctrl\+enter"/,
    ],
    [{ "app.send": "s" }, /"s" for "app.send" types a character; add ctrl or alt/],
    [{ "app.send": "ctrl+x ctrl+s" }, /two different keys/],
    [{ "app.send": "f1", "app.stop": "f1" }, /"f1" is bound to "app.send" and to "app.stop"/],
  ]
  const keymap = createKeymap()
  for (const [bindings, expected] of table) {
    assert.throws(() => keymap.bind(bindings), InvalidKeys)
    assert.throws(() => keymap.bind(bindings), expected)
  }
  assert.deepEqual(keymap.keysOf("app.send"), ["enter"])
})

function pressed(key: string): Key {
  return parseKey(key)!
}
