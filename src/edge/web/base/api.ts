// The calls of the page: the typed client over the page's own origin. The cookie signs them in, together with the key in the
// header: scripts cannot read the one, and servers on other ports of the machine never see the other.
import { type Client, ClientError, createClient, createHttpTransport } from "#client/client.ts"
import { readStored, store } from "./stored.ts"

const [browserName, keyName] = ["vitamin.browser", "vitamin.key"]
const clients = new Map<string, Client>()
const following = Promise.withResolvers<void>()

/** Requests wait for this call. What is read before the event stream is open misses the events in between for ever. */
export function allowRequests(): void {
  following.resolve()
}

const ownFetch: typeof fetch = async (input, init) => {
  if (input !== `${location.origin}/event`) await following.promise
  return fetch(input, {
    ...init,
    headers: { ...(init?.headers as Record<string, string>), "x-vitamin-page": readStored(keyName) ?? "" },
  })
}

/** The client for a folder; without one, for the folder of the server and for events of all folders. */
export function clientFor(directory?: string): Client {
  const key = directory ?? ""
  let client = clients.get(key)
  if (!client) {
    client = createClient(createHttpTransport({ url: location.origin, directory, fetch: ownFetch }))
    clients.set(key, client)
  }
  return client
}

/** Exchanges the code of the address for a cookie and a key. */
export async function signIn(code: string): Promise<void> {
  const response = await fetch("/browser", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  })
  if (response.ok) {
    const { id, key } = (await response.json()) as { id: string; key: string }
    store(browserName, id)
    store(keyName, key)
    return
  }
  const { error } = (await response.json()) as { error: { name: string; message: string } }
  throw new ClientError({ ...error, status: response.status })
}

/** The folder of a request does not exist any more. */
export function isMissingFolder(error: unknown): boolean {
  return error instanceof ClientError && error.data.place === "header x-vitamin-directory"
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401
}

/** The id of this browser in the list of signed-in browsers. It is no secret. */
export function ownBrowser(): string | undefined {
  return readStored(browserName)
}
