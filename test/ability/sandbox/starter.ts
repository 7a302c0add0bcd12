// Starts a boundary around a program, by default one that writes a file into the folder. With WAITS it is started beside the
// attempts, and writes when it is told to. Prints its output, and how it ended.
import { startBoundary } from "#ability/sandbox/sandbox.ts"

const directory = process.argv[2]!
const waits = process.env.WAITS === "1"
try {
  const { child, ended, status } = await startBoundary(
    { directory, allowWrite: [directory], denyRead: [], allowedDomains: [] },
    {
      command: "bash",
      args: ["--norc", "-c", process.env.PROGRAM ?? (waits ? "read -r _ && touch ran.txt" : "touch ran.txt")],
      env: { PATH: process.env.PATH! },
      waits,
    },
  )
  child.stdin!.end("go\n")
  child.stdout!.pipe(process.stdout)
  console.log(JSON.stringify({ ...(await ended), ...status }))
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`)
}
process.exit(0)
