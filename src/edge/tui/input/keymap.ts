// Which key does what: the defaults, and the person's setting `terminal.keys` over them.
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { type Action, actions } from "./actions.ts"
import { type Key, parseKey, writtenKey } from "./key.ts"

/** The setting: actions with a key, several keys, or none. */
export type Bindings = Record<string, string | readonly string[]>

export type Keymap = ReturnType<typeof createKeymap>

export class InvalidKeys extends NamedError {
  constructor(message: string) {
    super("Keymap.InvalidKeys", `terminal.keys: ${message}`)
  }
}

/** Two presses of one key within this time are a double press. */
const doublePress = 800
const names = Object.keys(actions) as Action[]

export function createKeymap() {
  let table = tableOf({})
  let last = { written: "", at: 0 }

  return Object.freeze({
    bind,
    actionsOf,
    forget,
    keysOf,
    /** The first key of an action in short, for hints. Undefined if it has none. */
    hintOf: (action: Action): string | undefined => keysOf(action)[0]?.replaceAll("escape", "esc"),
  })

  /** Replaces the person's bindings. A key that the person binds no longer has its default action. */
  function bind(bindings: Bindings): void {
    table = tableOf(bindings)
  }

  /** What a key may mean, the first that applies counts: a key with a double press has two actions, and so has Ctrl-D. */
  function actionsOf(key: Key): Action[] {
    const written = writtenKey(key)
    const isDouble = last.written === written && Date.now() - last.at < doublePress
    const double = isDouble ? (table.get(`${written} ${written}`) ?? []) : []
    if (double.length) forget()
    else last = { written, at: Date.now() }
    return [...double, ...(table.get(written) ?? [])]
  }

  /** The last key did something else: it is not the first half of a double press. */
  function forget(): void {
    last = { written: "", at: 0 }
  }

  /** The keys of an action, as they are written. */
  function keysOf(action: Action): string[] {
    return [...table].filter(([, found]) => found.includes(action)).map(([written]) => written)
  }
}

function tableOf(bindings: Bindings): Map<string, Action[]> {
  const own = new Map<string, Action[]>()
  for (const [name, keys] of Object.entries(bindings)) {
    const action = knownAction(name)
    for (const key of [keys].flat()) add(own, knownKeys(name, key), action)
  }
  for (const [written, found] of own) refuseTwo(written, found)
  const table = new Map<string, Action[]>()
  for (const action of names) {
    if (Object.hasOwn(bindings, action)) continue
    for (const written of actions[action].keys) if (!own.has(written)) add(table, written, action)
  }
  return new Map([...table, ...own])
}

function add(table: Map<string, Action[]>, written: string, action: Action): void {
  const found = [...(table.get(written) ?? []), action]
  table.set(
    written,
    found.sort((a, b) => names.indexOf(a) - names.indexOf(b)),
  )
}

function knownAction(name: string): Action {
  const action = names.find((known) => known === name)
  if (action) return action
  const meant = nearest(name, names)
  throw new InvalidKeys(
    `there is no action "${name}". ${meant ? `Did you mean "${meant}"?` : `Actions: ${names.join(", ")}`}`,
  )
}

function knownKeys(action: string, text: string): string {
  const presses = text.trim().split(/\s+/).map(parseKey)
  const form = 'expected a form such as "ctrl+enter", "alt+b", "f2" or "escape escape"'
  if (presses.length > 2 || presses.some((press) => press === undefined))
    throw new InvalidKeys(`"${text}" for "${action}" is no key; ${form}`)
  const [first = "", second] = presses.map((press) => writtenKey(press!))
  if (second !== undefined && second !== first)
    throw new InvalidKeys(
      `"${text}" for "${action}" has two different keys; only a double press has a meaning`,
    )
  const { name, ctrl, alt } = presses[0]!
  if (!ctrl && !alt && [...name].length === 1)
    throw new InvalidKeys(`"${text}" for "${action}" types a character; add ctrl or alt`)
  return second === undefined ? first : `${first} ${second}`
}

/** `app.quit` applies to an empty editor only, so that its key may have a second action. */
function refuseTwo(written: string, found: Action[]): void {
  const [one, two] = found.filter((action) => action !== "app.quit")
  if (two) throw new InvalidKeys(`"${written}" is bound to "${one}" and to "${two}"`)
}
