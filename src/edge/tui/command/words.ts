// Numbers and times as people read them.

/** `840`, `12.3k`, `1.2M` */
export function shortCount(count: number): string {
  if (count < 1_000) return String(Math.round(count))
  if (count < 999_950) return `${(count / 1_000).toFixed(count < 99_950 ? 1 : 0)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

export function timeAgo(time: number): string {
  const minutes = Math.floor((Date.now() - time) / 60_000)
  if (minutes < 1) return "just now"
  if (minutes < 60) return `${minutes} min ago`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`
  return new Date(time).toISOString().slice(0, 10)
}

/** `1 file`, `2 files` */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

/** `$0.0123`, `$1.23` */
export function dollars(cost: number): string {
  return `$${cost < 0.1 ? cost.toFixed(4) : cost.toFixed(2)}`
}
