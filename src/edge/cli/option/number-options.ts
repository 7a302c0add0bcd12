// Options that take a number. yargs gives NaN for "abc" and accepts -1; both are refused here with an error.
import { UsageError } from "#edge/cli/process/exit.ts"

/** An option that takes a number above 0. */
export function positiveNumber<T extends string>(name: string, describe: T) {
  return {
    type: "number",
    requiresArg: true,
    describe,
    coerce: checker(name, "a number above 0", isPositive),
  } as const
}

/** An option that takes a whole number from 1 on. */
export function positiveInteger<T extends string>(name: string, describe: T) {
  const check = (value: number) => isPositive(value) && Number.isInteger(value)
  return {
    type: "number",
    requiresArg: true,
    describe,
    coerce: checker(name, "a whole number from 1 on", check),
  } as const
}

function checker(name: string, wanted: string, check: (value: number) => boolean) {
  return (value: unknown): number => {
    if (typeof value === "number" && check(value)) return value
    const twice = Array.isArray(value) ? ", once" : ""
    throw new UsageError(`${name} takes ${wanted}${twice}, such as ${name} 5`)
  }
}

function isPositive(value: number): boolean {
  return Number.isFinite(value) && value > 0
}
