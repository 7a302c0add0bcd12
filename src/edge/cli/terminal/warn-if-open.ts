// The warning of a server that other machines can reach.
import { wrapLines } from "./wrap-text.ts"

/** `urls`: undefined if the server listens on loopback only. */
export function warnIfOpen(urls: readonly string[] | undefined): void {
  if (!urls) return
  const at = urls.length ? ` at ${urls.join(", ")}` : ""
  const text = `vitamin: warning: other machines can reach this server${at}. Whoever has the token can run commands here, and HTTP does not encrypt it.`
  process.stderr.write(`${wrapLines(text)}\n`)
}
