// Control sequences that terminals send for keys: xterm, rxvt, the Linux console, tmux, kitty (`CSI … u`) and xterm's
// modifyOtherKeys (`CSI 27 ; … ~`). Anything else is a reply of the terminal, or unknown.
import type { Key } from "./key.ts"

const none = { ctrl: false, alt: false, shift: false }
const letters: Record<string, string> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "begin",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
}
/** Of the numeric keypad in application mode: `ESC O j` and so on. */
const keypad: Record<string, string> = {
  j: "*",
  k: "+",
  l: ",",
  m: "-",
  n: ".",
  o: "/",
  X: "=",
  ...Object.fromEntries([..."pqrstuvwxy"].map((letter, digit) => [letter, String(digit)])),
}
const numbers: Record<number, string> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  29: "menu",
  ...functionKeys([11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28], 1),
  ...functionKeys([31, 32, 33, 34], 17),
}
/** Kitty's own numbers, in the private use area. Keys that only hold a modifier, or that play media, are left out. */
const kitty: Record<number, string> = {
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57363: "menu",
  ...functionKeys(range(57376, 57387), 13),
  ...Object.fromEntries(range(57399, 57408).map((code, digit) => [code, String(digit)])),
  ...Object.fromEntries([..."./*-+"].map((sign, at) => [57409 + at, sign])),
  57414: "enter",
  57415: "=",
  57416: ",",
  ...Object.fromEntries(
    "left right up down pageup pagedown home end insert delete begin"
      .split(" ")
      .map((name, at) => [57417 + at, name]),
  ),
}
const isReply = /^[?>=<]|[cntxy]$|^\d+;\d+R$/
const released = 3
const superOrHyper = 8 | 16

/** `body`: what follows `CSI`, its last character included. */
export function keyOfCsi(body: string): Key | "reply" | undefined {
  if (body === "Z") return { name: "tab", ...none, shift: true }
  if (body === "I" || body === "O") return { name: body === "I" ? "focus" : "blur", ...none }
  if (body.startsWith("[")) return functionKey("ABCDE".indexOf(body[1]!) + 1)
  if (isReply.test(body)) return "reply"
  const fields = body.slice(0, -1).split(";")
  const final = body.at(-1)!
  const [modifier, event] = (fields[1] ?? "").split(":").map(Number)
  if (event === released) return undefined
  if (final === "u") return keyOfCode(fields[0]!, modifier, fields[2])
  if (final === "~" && fields[0] === "27") return keyOfCode(fields[2] ?? "", modifier)
  if ("~^$@".includes(final)) return ofRxvt(final, withModifiers(numbers[Number(fields[0])], modifier))
  if (/^[abcd]$/.test(body)) return { name: letters[body.toUpperCase()]!, ...none, shift: true }
  return withModifiers(letters[final], modifier)
}

/** `body`: what follows `ESC O`. Older terminals put the modifier there. */
export function keyOfSs3(body: string): Key | undefined {
  const final = body.at(-1)!
  if (/^[abcd]$/.test(body)) return { name: letters[body.toUpperCase()]!, ...none, ctrl: true }
  const sign = keypad[final]
  if (sign !== undefined) return { name: sign, ...none, text: sign }
  return withModifiers(final === "M" ? "enter" : letters[final], Number(body.slice(0, -1)))
}

/** A character as the key that types it. Upper case is shift, so that `alt+shift+b` has one form. */
export function keyOfText(character: string, alt = false): Key {
  const name = character === " " ? "space" : character.toLowerCase()
  const shift = name !== character && name !== "space"
  return { name, ctrl: false, alt, shift, ...(alt ? {} : { text: character }) }
}

function keyOfCode(codes: string, modifier = 1, texts = ""): Key | undefined {
  const [code = 0, shifted, base] = codes.split(":").map(Number)
  const held = (modifier || 1) - 1
  // The window manager's keys are not ours.
  if (held & superOrHyper) return undefined
  const key = withModifiers(kitty[code] ?? "", modifier)!
  const isCommand = key.ctrl || key.alt
  if (key.name !== "") {
    const text = key.name === "space" ? " " : key.name.length === 1 ? key.name : undefined
    return text === undefined || isCommand ? key : { ...key, text }
  }
  const isPrivate = code >= 57344 && code <= 63743
  if (code < 33 || isPrivate || code > 0x10ffff) return undefined
  // Another alphabet: a shortcut is named by the key's place on a Latin keyboard.
  const character = String.fromCodePoint(isCommand && code > 127 && base ? base : code)
  const upper = shifted ? String.fromCodePoint(shifted) : character.toUpperCase()
  const typed = key.shift ? upper : character
  const isLetter = character.toLowerCase() !== character.toUpperCase()
  const name = isLetter ? character.toLowerCase() : shifted && key.shift ? upper : character
  const shift = isLetter ? key.shift : key.shift && name === character
  if (isCommand) return { ...key, name, shift }
  const told = texts.split(":").map(Number).filter(Boolean)
  return { ...key, name, shift, text: told.length ? String.fromCodePoint(...told) : typed }
}

/** xterm's number is 1 + a sum: shift 1, alt 2, ctrl 4, meta 8 (Alt in iTerm), kitty's meta 32. */
function withModifiers(name: string | undefined, modifier = 1): Key | undefined {
  const held = (modifier || 1) - 1
  if (name === undefined) return undefined
  return { name, ctrl: (held & 4) > 0, alt: (held & (2 | 8 | 32)) > 0, shift: (held & 1) > 0 }
}

/** rxvt ends the sequence with its modifier. */
function ofRxvt(final: string, key: Key | undefined): Key | undefined {
  if (!key || final === "~") return key
  return { ...key, ctrl: final !== "$", shift: final !== "^" }
}

function functionKey(number: number): Key | undefined {
  return number > 0 ? { name: `f${number}`, ...none } : undefined
}

function functionKeys(codes: number[], first: number): Record<number, string> {
  return Object.fromEntries(codes.map((code, at) => [code, `f${first + at}`]))
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}
