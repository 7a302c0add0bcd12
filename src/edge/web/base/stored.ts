// Small texts that the browser keeps. A browser may refuse storage, or have none left: what is kept then holds until the page
// is closed.

const unstored = new Map<string, string>()
/** `page`: until the tab is closed. */
type Place = "browser" | "page"

export function readStored(name: string, place: Place = "browser"): string | undefined {
  try {
    return storageOf(place).getItem(name) ?? unstored.get(name)
  } catch {
    return unstored.get(name)
  }
}

/** An empty text is forgotten. */
export function store(name: string, text: string, place: Place = "browser"): void {
  unstored.delete(name)
  try {
    if (text) storageOf(place).setItem(name, text)
    else storageOf(place).removeItem(name)
  } catch {
    if (text) unstored.set(name, text)
  }
}

function storageOf(place: Place): Storage {
  return place === "browser" ? localStorage : sessionStorage
}
