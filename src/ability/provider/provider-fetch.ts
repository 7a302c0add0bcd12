// `fetch` for the AI SDK's clients. Node's own follows redirects to other origins and takes `x-api-key`, `x-goog-api-key`
// and the body along; this one stays within the origin of the base URL.
import { redirectTarget } from "#util/redirect.ts"

export function createProviderFetch(providerId: string): typeof fetch {
  const setting = baseSetting(providerId)
  return async (input, init = {}) => {
    const { method = "GET" } = init
    let url = new URL(input instanceof Request ? input.url : input)
    for (let hops = 0; ; hops++) {
      const response = await fetch(url, { ...init, redirect: "manual" })
      const { status, headers } = response
      const location = headers.get("location")
      try {
        const next = redirectTarget({ url, method, status, location, hops, setting })
        if (!next) return response
        url = next
      } catch (error) {
        await response.body?.cancel()
        throw error
      }
      await response.body?.cancel()
    }
  }
}

/** The setting that says where requests of a provider go. */
export function baseSetting(providerId: string): string {
  return `provider.${providerId}.baseURL`
}
