// Fetches a newer catalog of models when a person asks for it, and stores it beside the shipped one.
import * as Catalog from "#ability/provider/catalog/catalog.ts"
import { catalogRows } from "#ability/provider/catalog/catalog-rows.ts"
import { providers } from "#ability/provider/reach/providers.ts"
import { NamedError } from "#util/error.ts"
import { fetchBytes, fetchFailure } from "#util/fetch-bytes.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { useProxy } from "./environment.ts"

const source = "https://models.dev/api.json"
const maxBytes = 32 << 20
const timeout = 30_000

export class NotRefreshed extends NamedError {
  constructor(url: string, reason: string) {
    super(
      "Provider.NotRefreshed",
      `The list of models at ${url} could not be used: ${reason}. The earlier list is still used.`,
      { url },
    )
  }
}

/** Returns the number of models of our providers in it. */
export async function refreshCatalog(url: string = source): Promise<number> {
  await useProxy()
  try {
    const rows = catalogRows(JSON.parse((await fetchBytes({ url, timeout, maxBytes })).toString()))
    const own = Object.entries(rows).filter(([id]) => Object.hasOwn(providers, id))
    if (own.length === 0) throw new Error("it has no provider that is known here")
    await replaceFile(Catalog.refreshedFile(), JSON.stringify(Object.fromEntries(own)))
    Catalog.forget()
    return own.reduce((sum, [, text]) => sum + text.split("\n").length, 0)
  } catch (error) {
    throw new NotRefreshed(url, fetchFailure(error))
  }
}
