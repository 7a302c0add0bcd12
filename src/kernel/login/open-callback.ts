// A local HTTP server that receives the redirect of the browser after a login.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export type Callback = {
  url: string
  /** For a provider that adds its answer to an address and knows no `state`. */
  urlWith(state: string): string
  answer(state: string): Promise<{ code: string; iss?: string }>
} & AsyncDisposable

export async function openCallback(signal: AbortSignal): Promise<Callback> {
  let settle: (answer: URLSearchParams) => void
  const answered = new Promise<URLSearchParams>((resolve) => {
    settle = resolve
  })
  let expected: string | undefined
  const server = createServer((request, response) => {
    // Any program on this machine, or a page in the browser, may send requests here.
    const url = URL.parse(request.url ?? "/", "http://127.0.0.1")
    const [, path, inPath] = url?.pathname.split("/") ?? []
    const answer = path === "callback" ? url?.searchParams : undefined
    const own = answer !== undefined && expected !== undefined && (inPath ?? answer.get("state")) === expected
    response.writeHead(own ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" })
    response.end(own ? "The login is complete. You can close this page.\n" : "Nothing here.\n")
    if (own) settle(answer)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/callback`,
    // Such providers take the name only, not the address.
    urlWith: (state) => `http://localhost:${port}/callback/${state}`,
    async answer(state) {
      expected = state
      const answer = await Promise.race([answered, aborted(signal)])
      const [code, iss] = [answer.get("code"), answer.get("iss") ?? undefined]
      if (!code) throw new Error(`the answer was "${answer.get("error") ?? "nothing"}"`)
      return { code, ...(iss === undefined ? {} : { iss }) }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort")
  throw signal.reason
}
