// What the status line says about now: what runs and for how long, or a hint for a moment. The clock ticks only while
// something runs, so that an idle terminal never wakes up.

/** Milliseconds that a hint stays. */
const hintTime = 4_000
const tick = 1_000

export function createActivity(refresh: () => void) {
  let hint: { text: string; timer: NodeJS.Timeout } | undefined
  let clock: NodeJS.Timeout | undefined

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
    setBusy(isBusy: boolean): void {
      if (isBusy) clock ??= setInterval(refresh, tick)
      else stopClock()
    },
    stop(): void {
      stopClock()
      clearTimeout(hint?.timer)
    },
  })

  function stopClock(): void {
    clearInterval(clock)
    clock = undefined
  }
}

export function workingFor(since: number | undefined): string | undefined {
  if (since === undefined) return undefined
  return `working ${Math.floor((Date.now() - since) / 1000)} s, esc stops`
}
