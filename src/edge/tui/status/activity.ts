// What the status line says about now: what runs and for how long, or a hint for a moment. The clock ticks only while
// something runs, so that an idle terminal never wakes up.

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
      clearTimeout(hint?.timer)
      const timer = setTimeout(() => {
        hint = undefined
        refresh()
      }, hintTime)
      hint = { text, timer }
      refresh()
    },
    tick,
    stop(): void {
      tick(undefined)
      clearTimeout(hint?.timer)
    },
  })

  /** Milliseconds between two ticks; undefined stops the clock. */
  function tick(interval: number | undefined): void {
    if (clock?.interval === interval) return
    clearInterval(clock?.timer)
    clock = interval === undefined ? undefined : { timer: setInterval(refresh, interval), interval }
  }
}

/** `picture`: of the animation. */
export function workingFor(since: number | undefined, picture: string): string | undefined {
  if (since === undefined) return undefined
  return `${picture}working ${Math.floor((Date.now() - since) / 1000)} s, esc stops`
}
