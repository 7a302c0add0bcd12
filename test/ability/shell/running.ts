// Finds the processes of the machine whose command line contains a text.
import { execFileSync } from "node:child_process"

let count = 0

/** Seconds for `sleep` that no other test uses. */
export function uniqueNap(): string {
  return `300.${String(process.pid).padStart(8, "0")}${String(++count).padStart(3, "0")}`
}

/** Dead ones that nobody collected do not count. */
export function running(text: string): string[] {
  const lines = execFileSync("ps", ["-eo", "stat=,pid=,args="], { encoding: "utf8" }).split("\n")
  return lines.filter((line) => line.includes(text) && !line.startsWith("Z") && !line.includes("ps -eo"))
}
