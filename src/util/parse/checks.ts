// The methods of a schema that restrict its valid values, for parsing without Zod.
export const checks: Record<string, (value: never, limit: never) => boolean> = {
  min: (value, limit) => sizeOf(value) >= limit,
  max: (value, limit) => sizeOf(value) <= limit,
  length: (value: string, limit) => value.length === limit,
  int: Number.isSafeInteger,
  positive: (value) => value > 0,
  nonnegative: (value) => value >= 0,
  startsWith: (value: string, start) => value.startsWith(start),
  regex: (value: string, pattern: RegExp) => !pattern.global && !pattern.sticky && pattern.test(value),
}

function sizeOf(value: number | { length: number }): number {
  return typeof value === "number" ? value : value.length
}
