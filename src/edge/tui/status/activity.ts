// What the status line says about now: what runs and for how long, or a hint for a moment. The clock ticks only while
// something runs, so that an idle terminal never wakes up.
import type { Keymap } from "#edge/tui/input/keymap.ts"

/** Milliseconds that a hint stays. */
const hintTime = 4_000

export function createActivity(refresh: () => void) {
  let hint: { text: string; timer: NodeJS.Timeout } | undefined
  let clock: { timer: NodeJS.Timeout; interval: number } | undefined

  return Object.freeze({
    get hint() {
      return hint?.text
    },
    say(text: string): void {
      hush()
      const timer = setTimeout(() => {
        hint = undefined
        refresh()
      }, hintTime)
      hint = { text, timer }
      refresh()
    },
    /** A hint must not hide the turn that the person has just begun. */
    hush,
    tick,
    stop(): void {
      tick(undefined)
      hush()
    },
  })

  function hush(): void {
    clearTimeout(hint?.timer)
    hint = undefined
  }

  /** Milliseconds between two ticks; undefined stops the clock. */
  function tick(interval: number | undefined): void {
    if (clock?.interval === interval) return
    clearInterval(clock?.timer)
    clock = interval === undefined ? undefined : { timer: setInterval(refresh, interval), interval }
  }
}

/** `picture`: of the animation. `key`: the one that stops the turn. */
export function workingFor(
  since: number | undefined,
  picture: string,
  key: string | undefined,
): string | undefined {
  if (since === undefined) return undefined
  const stop = key ? `, ${key} stops` : ""
  return `${picture}working ${Math.floor((Date.now() - since) / 1000)} s${stop}`
}

/** How to quit, after the key that clears the editor found it empty. */
export function quitHint({ keysOf }: Pick<Keymap, "keysOf">): string {
  const quitting = keysOf("app.quit")
  const again = keysOf("app.clear").find((key) => quitting.includes(`${key} ${key}`))
  if (again) return `press ${again} again to quit`
  return quitting[0] ? `${quitting[0]} quits` : "/quit quits"
}
