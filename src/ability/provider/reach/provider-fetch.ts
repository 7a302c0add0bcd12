// `fetch` for the AI SDK's clients. Node's own `fetch` follows redirects to other origins and sends `x-api-key`,
// `x-goog-api-key` and the body there; this one stays within the origin of the base URL. It also limits the size of
// each message.
import { boundMessages } from "#util/bound-messages.ts"
import { redirectTarget } from "#util/redirect.ts"
import { MessageTooLarge, messageLimit } from "./errors.ts"

export function createProviderFetch(providerId: string): typeof fetch {
  const setting = `provider.${providerId}.baseURL`
  const tooLarge = () => new MessageTooLarge(providerId)
  return async (input, init = {}) => {
    const { method = "GET" } = init
    let url = new URL(input instanceof Request ? input.url : input)
    for (let hops = 0; ; hops++) {
      const response = await fetch(url, { ...init, redirect: "manual" })
      const { status, headers } = response
      const location = headers.get("location")
      try {
        const next = redirectTarget({ url, method, status, location, hops, setting })
        if (!next) return boundMessages(response, { limit: messageLimit, error: tooLarge })
        url = next
      } catch (error) {
        await response.body?.cancel()
        throw error
      }
      await response.body?.cancel()
    }
  }
}
