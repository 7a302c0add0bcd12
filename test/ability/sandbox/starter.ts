// Starts a boundary around a program, by default one that writes a file into the folder. Prints its output, and how it
// ended.
import { startBoundary } from "#ability/sandbox/sandbox.ts"

const directory = process.argv[2]!
try {
  const { child, ended, status } = await startBoundary(
    { directory, allowWrite: [directory], denyRead: [], allowedDomains: [] },
    {
      command: "bash",
      args: ["--norc", "-c", process.env.PROGRAM ?? "touch ran.txt"],
      env: { PATH: process.env.PATH! },
    },
  )
  child.stdin!.end()
  child.stdout!.pipe(process.stdout)
  console.log(JSON.stringify({ ...(await ended), ...status }))
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`)
}
process.exit(0)
