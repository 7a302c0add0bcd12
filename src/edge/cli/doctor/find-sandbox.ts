// The line of `vitamin doctor` about the sandbox: starts one around nothing.
import { checkSandbox } from "#ability/sandbox/sandbox.ts"
import type { Finding } from "./doctor.ts"

export async function findSandbox(): Promise<Finding[]> {
  const about = "sandbox"
  const { isolated, by, user, missing } = await checkSandbox()
  if (!isolated) return [{ state: "note", about, text: missing.join(" ") }]
  const text = `${by} isolates programs${user ? ` as ${user}` : ""}`
  return [{ state: "ok", about, text }, ...missing.map((text): Finding => ({ state: "note", about, text }))]
}
