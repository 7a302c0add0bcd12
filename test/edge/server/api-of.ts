// Requests to a server that was started by a test, with its token.
import { readFileSync } from "node:fs"

export function apiOf({ url, tokenFile }: { url: string; tokenFile: string }) {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
    return { status: response.status, body: (await response.json()) as any }
  }
}
