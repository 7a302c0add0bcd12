// What all benchmarks share: medians, and lines that set ours beside a floor of the same run.

export function median(values: number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
}

/** One line of the table. A goal is a ratio to the floor. */
export function report(what: string, ours: number, floor: number, unit: string, goal?: number): void {
  const ratio = ours / floor
  const verdict = goal === undefined ? "" : `  goal ${goal}× ${ratio <= goal ? "met" : "MISSED"}`
  console.log(
    `${what.padEnd(52)} ${show(ours)} ${unit}  floor ${show(floor)} ${unit}  ${ratio.toFixed(2)}×${verdict}`,
  )
  if (goal !== undefined && ratio > goal) process.exitCode = 1
}

function show(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1).padStart(8)
}
