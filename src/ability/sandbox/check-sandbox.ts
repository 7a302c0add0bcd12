// Whether this machine can isolate: starts a boundary around nothing.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NotIsolated, type Status } from "./policy.ts"
import { startBoundary } from "./start-boundary.ts"

export async function checkSandbox(): Promise<Status> {
  const directory = mkdtempSync(join(tmpdir(), "vitamin-"))
  try {
    const policy = { directory, allowWrite: [], denyRead: [], allowedDomains: [], timeout: 10_000 }
    const boundary = await startBoundary(policy, {
      command: "true",
      args: [],
      env: { PATH: process.env.PATH ?? "" },
    })
    const { pid: _, ...status } = boundary.status
    await boundary.stop()
    return status
  } catch (error) {
    if (!(error instanceof NotIsolated)) throw error
    return { isolated: false, missing: [error.message] }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
