// Finds out what answers on a port of this machine. A stranger on the port never sees the token: the server proves that it
// knows the token by an HMAC over a random challenge and its own port. A stranger that relays the challenge gets a proof
// for another port.
import { createHmac, randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import * as SecretFiles from "#kernel/process/secret-files.ts"

/** `own`: the person's server; `vitamin`: another vitamin server, or a relay to one. */
export async function probeServer(port: number): Promise<"own" | "none" | "vitamin" | "other"> {
  const challenge = randomBytes(16).toString("hex")
  const headers = { "x-vitamin-challenge": challenge }
  const response = await fetch(`http://127.0.0.1:${port}/health`, {
    headers,
    signal: AbortSignal.timeout(1_000),
    redirect: "manual",
  }).catch((error) => (error.cause?.code === "ECONNREFUSED" ? undefined : error))
  if (response === undefined) return "none"
  const proof = response instanceof Response ? await proofIn(response) : undefined
  if (proof === undefined) return "other"
  return proof === proofOf(challenge, port) ? "own" : "vitamin"
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
