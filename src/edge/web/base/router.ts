// The address of a view, in the fragment: `#/session/ID/changes`. Nothing of it is sent to the server.
import { signal } from "@preact/signals"

export type Place = { name: string; parts: string[]; query: URLSearchParams }

export const place = signal<Place>(read())

addEventListener("hashchange", () => {
  place.value = read()
})

export function go(path: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(null, "", `#${path}`)
  else history.pushState(null, "", `#${path}`)
  place.value = read()
}

/** `address("session", id, "plan")` → `#/session/ID/plan`. */
export function address(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`
}

function read(): Place {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?")
  const [name = "", ...parts] = path.split("/").map(decoded)
  return { name, parts, query: new URLSearchParams(query) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
