/** A duration for people: `4 s`, `1 min 5 s`. Empty for less than two seconds. */
export function secondsOf(milliseconds: number): string {
  if (!(milliseconds >= 2_000)) return ""
  const seconds = Math.round(milliseconds / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
