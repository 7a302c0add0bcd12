// Numbers, times and money in words.

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
]
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

export function ago(time: number): string {
  const seconds = (time - Date.now()) / 1_000
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit)
  return "just now"
}

export function count(value: number): string {
  return value >= 1e6
    ? `${(value / 1e6).toFixed(1)}M`
    : value >= 1e4
      ? `${Math.round(value / 1e3)}k`
      : String(value)
}

export function money(value: number): string {
  return value === 0 ? "$0" : value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(2)}`
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`
}

/** The last two parts of a path. */
export function shortPath(path: string): string {
  const parts = path.split("/").filter(Boolean)
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : path
}

/** Characters that reorder or hide text: controls, directions, characters without width, tags. Joiners after a letter, and
 * what makes an emoji of a character, are allowed. */
const hidden =
  /(?![\t\n\r]|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d]|(?<=\p{Emoji})\ufe0f)[\p{Cc}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

/** Text of others as it is: what would change how the rest is read is written out, such as `U+202E`. */
export function visible(text: unknown): string {
  const given = String(text ?? "")
  // The fast path for nearly all text.
  if (!/[^\t\n\r\x20-\x7e]/.test(given)) return given
  return given.replace(
    hidden,
    (one) => `‹U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`,
  )
}

/** The state of a session in words. */
export function stateWords(status: string): string {
  const words: Record<string, string> = {
    idle: "Idle",
    busy: "Working",
    waiting: "Waits for you",
    interrupted: "Interrupted",
    error: "Failed",
  }
  return words[status] ?? status
}

/** `counted(2, "tool")` → "2 tools". */
export function counted(value: number, what: string): string {
  return `${value} ${what}${value === 1 ? "" : "s"}`
}
