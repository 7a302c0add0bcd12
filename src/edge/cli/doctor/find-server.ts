// The person's server: its token file, and what answers on its port. A stranger on the port never sees the token: the
// server proves that it knows the token by an HMAC over a random challenge and its own port. A stranger that relays
// the challenge gets a proof for another port.
import { createHmac, randomBytes } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
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
  const challenge = randomBytes(16).toString("hex")
  const headers = { "x-vitamin-challenge": challenge }
  const response = await fetch(`http://127.0.0.1:${port}/health`, {
    headers,
    signal: AbortSignal.timeout(1_000),
    redirect: "manual",
  }).catch((error) => (error.cause?.code === "ECONNREFUSED" ? undefined : error))
  if (response === undefined) return { state: "note", about, text: `none on port ${port}` }
  const proof = response instanceof Response ? await proofIn(response) : undefined
  if (proof !== undefined && proof === proofOf(challenge, port))
    return { state: "ok", about, text: `your server answers on port ${port}` }
  const who = proof === undefined ? "another program" : "another vitamin server, or a relay to one,"
  const todo = `${ownCommand} serve --port 0 takes a free port; ${ownCommand} doctor --port checks another one`
  return {
    state: "note",
    about,
    text: `${who} answers on port ${port}; your server does not run there`,
    todo,
  }
}

async function proofIn(response: Response): Promise<string | undefined> {
  if (!/^application\/json\b/.test(response.headers.get("content-type") ?? "")) return undefined
  const body = (await response.json().catch(() => undefined)) as { proof?: unknown } | undefined
  return typeof body?.proof === "string" ? body.proof : undefined
}

function proofOf(challenge: string, port: number): string | undefined {
  try {
    const token = readFileSync(SecretFiles.tokenFile(), "utf8").trim()
    return createHmac("sha256", token).update(`${challenge} ${port}`).digest("hex")
  } catch {
    return undefined
  }
}
