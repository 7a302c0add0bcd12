// The person's server: its token file, and what answers on its port.
import { statSync } from "node:fs"
import { probeServer } from "#edge/cli/process/probe-server.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

export async function findServer(port: number): Promise<Finding[]> {
  return [tokenFinding(), await portFinding(port)]
}

function tokenFinding(): Finding {
  const about = "token"
  const token = SecretFiles.tokenFile()
  const mode = statSync(token, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return { state: "ok", about, text: `made at the first ${ownCommand} serve` }
  if ((mode & 0o077) === 0) return { state: "ok", about, text: token }
  const todo = `chmod 600 ${token}, or remove it`
  return { state: "bad", about, text: `${token} can be read by others`, todo }
}

async function portFinding(port: number): Promise<Finding> {
  const about = "server"
  const found = await probeServer(port)
  if (found === "none") return { state: "note", about, text: `none on port ${port}` }
  if (found === "own") return { state: "ok", about, text: `your server answers on port ${port}` }
  const who = found === "other" ? "another program" : "another vitamin server, or a relay to one,"
  const todo = `${ownCommand} serve --port 0 takes a free port; ${ownCommand} doctor --port checks another one`
  return {
    state: "note",
    about,
    text: `${who} answers on port ${port}; your server does not run there`,
    todo,
  }
}
