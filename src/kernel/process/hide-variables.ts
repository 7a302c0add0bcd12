// On Linux every process of the same user can read `/proc/PID/environ`, which shows the variables that a process was
// started with, even after it unset them. That block is our own memory: the values are overwritten there after `setenv`
// has copied them elsewhere. `process.env` still has them, and a program that we start finds nothing.
import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs"
import { errorText } from "#util/error.ts"
import * as Log from "./log.ts"

/** Positions of `env_start` and `env_end` behind the name of the program in /proc/PID/stat, see proc(5). */
const [startField, endField] = [47, 48]
const hidden = new Set<string>()

/** Does nothing if there is no such file, or it cannot be written. */
export function hideVariables(names: readonly string[]): void {
  if (process.platform !== "linux") return
  const next = names.filter((name) => !hidden.has(name))
  if (next.length === 0) return
  for (const name of next) hidden.add(name)
  try {
    overwrite(new Set(next))
  } catch (error) {
    Log.debug("variables of this process stay readable in /proc", { error: errorText(error) })
  }
}

function overwrite(names: ReadonlySet<string>): void {
  const { start, end } = blockOf(readFileSync("/proc/self/stat", "latin1"))
  const memory = openSync("/proc/self/mem", "r+")
  try {
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    let at = 0
    // One byte is one character in latin1.
    for (const entry of block.toString("latin1").split("\0")) {
      const value = entry.indexOf("=") + 1
      const name = entry.slice(0, value - 1)
      if (value > 0 && names.has(name)) {
        moveAway(name)
        const length = entry.length - value
        writeSync(memory, Buffer.alloc(length), 0, length, start + at + value)
      }
      at += entry.length + 1
    }
  } finally {
    closeSync(memory)
  }
}

/** `setenv` makes a copy of its own. Without it the variable would be empty for us as well. */
function moveAway(name: string): void {
  const value = process.env[name]
  if (value !== undefined) process.env[name] = value
}

function blockOf(stat: string): { start: number; end: number } {
  // The name in parentheses may have blanks and parentheses of its own.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [start, end] = [Number(fields[startField]), Number(fields[endField])]
  if (!(start > 0 && end > start && end - start < 1 << 24))
    throw new Error("the address of the environment is not known")
  return { start, end }
}
