// A key as the terminal reported it, and its written form in settings and help: `ctrl+enter`, `alt+b`, `escape escape`.

/** `text`: what the key inserts. A paste is a key named "paste"; the window's focus comes as "focus" and "blur". */
export type Key = { name: string; ctrl: boolean; alt: boolean; shift: boolean; text?: string }

const named =
  "enter escape tab space backspace delete insert up down left right home end pageup pagedown begin menu".split(
    " ",
  )
const other = /^f([1-9]|1\d|2[0-4])$/
const spellings: Record<string, string> = {
  return: "enter",
  esc: "escape",
  del: "delete",
  ins: "insert",
  pgup: "pageup",
  pgdn: "pagedown",
  "page-up": "pageup",
  "page-down": "pagedown",
  plus: "+",
}
const modifiers: Record<string, "ctrl" | "alt" | "shift"> = {
  ctrl: "ctrl",
  control: "ctrl",
  alt: "alt",
  option: "alt",
  meta: "alt",
  shift: "shift",
}

/** The written form of a key: modifiers in a fixed order, then its name. */
export function writtenKey({ name, ctrl, alt, shift }: Omit<Key, "text">): string {
  return `${ctrl ? "ctrl+" : ""}${alt ? "alt+" : ""}${shift ? "shift+" : ""}${name}`
}

/** Reads `Ctrl-Enter` or `ctrl+enter`. Undefined if there is no such key. */
export function parseKey(text: string): Omit<Key, "text"> | undefined {
  const key = { name: "", ctrl: false, alt: false, shift: false }
  let rest = text.trim().toLowerCase()
  for (;;) {
    const [whole, word = ""] = /^([a-z]+)[+-](?=.)/.exec(rest) ?? []
    const modifier = modifiers[word]
    if (whole === undefined || modifier === undefined) break
    key[modifier] = true
    rest = rest.slice(whole.length)
  }
  key.name = spellings[rest] ?? rest
  const isOne = [...key.name].length === 1 && !/[\s\p{C}]/u.test(key.name)
  return isOne || named.includes(key.name) || other.test(key.name) ? key : undefined
}
