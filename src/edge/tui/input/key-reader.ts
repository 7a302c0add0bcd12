// Reads keys from the bytes of a terminal. A sequence may arrive in any pieces: what is incomplete waits for the rest. A lone
// ESC is the Escape key only after a pause. Replies of the terminal go to `onReply` and are never typed.
import { StringDecoder } from "node:string_decoder"
import type { Key } from "./key.ts"
import { keyOfCsi, keyOfSs3, keyOfText } from "./sequences.ts"

/** A person needs longer between two keys; a terminal sends a sequence at once, over a slow line nearly so. */
const escapePause = 50
const sequencePause = 500
/** More than fingers and input methods produce in one read: text that a terminal without bracketed paste pasted. */
const burst = 64
const maxSequence = 64
const maxReply = 64 * 1024
const pasteStart = "200~"
const pasteEnd = "\x1b[201~"
const none = { ctrl: false, alt: false, shift: false }
const printable = /[^\x00-\x1f\x7f-\x9f]+/uy
/** The Linux console doubles the bracket for F1 to F5, and rxvt ends a sequence with `$` for Shift. */
const csi = /\x1b\[(?:\[[A-E]|\d+\$|[\x30-\x3f]*[\x20-\x2f]*[\x40-\x5a\x5c-\x7e])/y
/** A reply that is a string: OSC, DCS or APC. Alt+], Alt+Shift+P and Alt+_ begin in the same way, so that the next character counts. */
const stringStart = /\x1b(?:\]\d|P[\d>!$+|]|_G)/y
const stringEnd = /[\x00-\x1f]/g

/** What one step took from the text: nothing yet if `length` is 0. */
type Taken = { length: number; keys?: (Key | undefined)[]; reply?: string }

export function createKeyReader(onKey: (key: Key) => void, onReply: (text: string) => void = () => {}) {
  const decoder = new StringDecoder("utf8")
  let text = ""
  let paste: string[] | undefined
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined

  return Object.freeze({ add, stop })

  function add(bytes: Buffer): void {
    stop()
    const added = decoder.write(bytes)
    // The end marker of a paste may be lost. A key alone in its read gets the person out.
    if (paste && added === "\x03") endPaste(text.length)
    text += added
    readAll(false)
    if (text === "" || paste) return
    const isLone = /^\x1b+[[O\]P_]?$/.test(text)
    // A busy program sees the pause before it has read the rest of the sequence, so it reads once more.
    timer = setTimeout(
      () => {
        immediate = setImmediate(() => readAll(true))
      },
      isLone ? escapePause : sequencePause,
    )
  }

  /** Forgets the timer: what is incomplete stays so. */
  function stop(): void {
    clearTimeout(timer)
    clearImmediate(immediate)
  }

  function readAll(isOver: boolean): void {
    while (text !== "") {
      if (paste) {
        if (!readPaste(paste)) return
        continue
      }
      const taken = take(isOver)
      if (taken.length === 0) return
      text = text.slice(taken.length)
      for (const key of taken.keys ?? []) if (key) onKey(key)
      if (taken.reply !== undefined) onReply(taken.reply)
    }
  }

  /** The pieces are joined once at the end: a large paste comes in many reads. */
  function readPaste(pieces: string[]): boolean {
    const end = text.indexOf(pasteEnd)
    if (end >= 0) {
      endPaste(end)
      text = text.slice(pasteEnd.length)
      return true
    }
    const last = text.lastIndexOf("\x1b")
    const kept = last >= 0 && text.length - last < pasteEnd.length ? last : text.length
    pieces.push(text.slice(0, kept))
    text = text.slice(kept)
    return false
  }

  function endPaste(length: number): void {
    const whole = [...(paste ?? []), text.slice(0, length)].join("")
    text = text.slice(length)
    paste = undefined
    onKey({ name: "paste", ...none, text: whole })
  }

  function take(isOver: boolean): Taken {
    if (text[0] !== "\x1b") return takeText()
    const taken = takeEscape(isOver)
    if (taken.length > 0 || !isOver) return taken
    // Nothing followed. What could be a key is one; the start of a sequence is dropped.
    if (text.length === 1) return { length: 1, keys: [{ name: "escape", ...none }] }
    if (text[1] === "\x1b") return { length: 1, keys: [{ name: "escape", ...none }] }
    if (text.length === 2) return { length: 2, keys: [keyOfText(text[1]!, true)] }
    return { length: text.length }
  }

  function takeText(): Taken {
    const run = match(printable)
    if (run === undefined) return { length: 1, keys: [keyOfControl(text.charCodeAt(0))] }
    const characters = [...run]
    if (characters.length >= burst)
      return { length: run.length, keys: [{ name: "paste", ...none, text: run }] }
    return { length: run.length, keys: characters.map((character) => keyOfText(character)) }
  }

  function takeEscape(isOver: boolean): Taken {
    const next = text[1]
    if (next === undefined) return { length: 0 }
    if (next === "\x1b") return takeTwoEscapes()
    if (next === "[") return takeCsi()
    if (next === "O") return takeSs3()
    if ("]P_".includes(next)) return takeString(isOver)
    const first = String.fromCodePoint(text.codePointAt(1)!)
    const control = keyOfControl(next.charCodeAt(0))
    if (next < " " || next === "\x7f") return { length: 2, keys: control ? [{ ...control, alt: true }] : [] }
    return { length: 1 + first.length, keys: [keyOfText(first, true)] }
  }

  /** rxvt puts ESC before a sequence for Alt. Otherwise Escape was pressed twice. */
  function takeTwoEscapes(): Taken {
    if (text.length === 2) return { length: 0 }
    if (text[2] !== "[" && text[2] !== "O") return { length: 1, keys: [{ name: "escape", ...none }] }
    text = text.slice(1)
    const { length, keys, ...rest } = text[1] === "[" ? takeCsi() : takeSs3()
    text = `\x1b${text}`
    const withAlt = keys?.map((key) => key && { ...key, alt: true })
    return { length: length && length + 1, ...(withAlt ? { keys: withAlt } : {}), ...rest }
  }

  function takeCsi(): Taken {
    const whole = match(csi)
    if (whole === undefined) {
      const broken = /[^\x20-\x3f]/.exec(text.slice(2, 2 + maxSequence))
      const isLinux = text === "\x1b[["
      if (!isLinux && broken) return { length: 2 + broken.index }
      return { length: text.length > maxSequence ? text.length : 0 }
    }
    const body = whole.slice(2)
    if (body === pasteStart) {
      paste = []
      return { length: whole.length }
    }
    const key = keyOfCsi(body)
    return key === "reply" ? { length: whole.length, reply: whole } : { length: whole.length, keys: [key] }
  }

  function takeSs3(): Taken {
    const [whole] = /^\x1bO\d?[A-Za-z]/.exec(text) ?? []
    if (whole !== undefined) return { length: whole.length, keys: [keyOfSs3(whole.slice(2))] }
    if (/^\x1bO\d?$/.test(text)) return { length: 0 }
    return { length: 2, keys: [keyOfText("O", true)] }
  }

  function takeString(isOver: boolean): Taken {
    if (text.length === 2) return { length: 0 }
    if (match(stringStart) === undefined) return { length: 2, keys: [keyOfText(text[1]!, true)] }
    stringEnd.lastIndex = 2
    const end = stringEnd.exec(text)?.index
    if (end === undefined) return { length: isOver || text.length > maxReply ? text.length : 0 }
    if (text[end] === "\x07") return { length: end + 1, reply: text.slice(0, end + 1) }
    if (text[end] !== "\x1b") return { length: end }
    if (text[end + 1] === undefined) return { length: isOver ? end : 0 }
    return text[end + 1] === "\\" ? { length: end + 2, reply: text.slice(0, end + 2) } : { length: end }
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = 0
    return pattern.exec(text)?.[0]
  }
}

function keyOfControl(code: number): Key | undefined {
  if (code === 13) return { name: "enter", ...none }
  if (code === 9) return { name: "tab", ...none }
  if (code === 127) return { name: "backspace", ...none }
  if (code > 127) return undefined
  if (code === 0) return { name: "space", ...none, ctrl: true }
  return { name: String.fromCharCode(code + 64).toLowerCase(), ...none, ctrl: true }
}
