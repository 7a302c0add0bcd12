// The text style of a terminal (SGR: colours, bold, …) as a program sets it step by step. A style is written as all codes
// that are on, so that each stands for itself. Concealed and blinking text are no styles here.

/** `1;31`; empty for plain text. */
export type Sgr = string

type State = { marks: Set<number>; fg: string; bg: string }

/** The marks that a code sets, and the marks that a code ends. */
const sets = new Set([1, 2, 3, 4, 7, 9])
const ends: Record<number, number[]> = { 22: [1, 2], 23: [3], 24: [4], 27: [7], 29: [9] }

/** Follows the sequences of one stream. */
export function createSgr() {
  const state: State = { marks: new Set(), fg: "", bg: "" }
  return Object.freeze({
    /** The parameters of a sequence, `1;31` of `ESC [ 1 ; 31 m`. Returns the style from here on. */
    apply(parameters: string): Sgr {
      if (/^[\d;:]*$/.test(parameters)) change(state, parameters)
      return [...state.marks, state.fg, state.bg].filter(Boolean).join(";")
    },
  })
}

function change(state: State, parameters: string): void {
  const groups = parameters.split(";")
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i]!
    const code = Number(group)
    if (group.includes(":")) setExtended(state, group.split(":").map(Number))
    else if (code === 38 || code === 48) i += setExtended(state, groups.slice(i, i + 5).map(Number))
    else setPlain(state, code)
  }
}

function setPlain(state: State, code: number): void {
  if (code === 0) {
    state.marks.clear()
    state.fg = state.bg = ""
  } else if (sets.has(code)) state.marks.add(code)
  else if (ends[code]) for (const mark of ends[code]) state.marks.delete(mark)
  else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) state.fg = String(code)
  else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) state.bg = String(code)
  else if (code === 39) state.fg = ""
  else if (code === 49) state.bg = ""
}

/** One of 256 colours, or red, green and blue. Returns how many codes followed the first one. With colons, `2` may be followed
 * by a colour space. */
function setExtended(state: State, [place, kind, ...rest]: number[]): number {
  if (place === 4) setPlain(state, kind === 0 ? 24 : 4)
  if (place !== 38 && place !== 48) return 0
  const count = kind === 5 ? 1 : kind === 2 ? 3 : 0
  const values = rest.length === 4 ? rest.slice(1) : rest.slice(0, count)
  if (count && values.length === count && values.every((value) => value <= 255))
    state[place === 38 ? "fg" : "bg"] = [place, kind, ...values].join(";")
  return count + 1
}
