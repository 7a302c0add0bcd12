// Loaded before a command with --import: at its end the processor time it used, in milliseconds, goes to a file.
import { writeFileSync } from "node:fs"

process.on("exit", () => {
  const { user, system } = process.cpuUsage()
  writeFileSync(process.env.BENCH_CPU_FILE, String((user + system) / 1000))
})
