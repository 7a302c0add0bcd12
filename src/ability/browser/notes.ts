// Collects what happened beside a call and the model should know: dialogs, downloads, windows, blocked requests. A page can cause
// any number of them, so each kind is counted and a few are listed.

export type Notes = Readonly<{
  add(kind: string, text: string): void
  /** The lines since the last call, for the end of a result. */
  take(): string[]
}>

const maxListed = 5

export function createNotes(): Notes {
  let kinds = new Map<string, { listed: Set<string>; count: number }>()

  function add(kind: string, text: string): void {
    const known = kinds.get(kind) ?? { listed: new Set(), count: 0 }
    kinds.set(kind, known)
    known.count++
    if (known.listed.size < maxListed) known.listed.add(text)
  }

  function take(): string[] {
    const lines = [...kinds].map(([kind, { listed, count }]) => {
      const more = count > maxListed ? ` (${count} in all)` : ""
      return `[${kind}: ${[...listed].join("; ")}${more}]`
    })
    kinds = new Map()
    return lines
  }

  return Object.freeze({ add, take })
}

/** Text of a page inside a note: in quotes, and short. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
