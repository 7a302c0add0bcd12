// The search in earlier prompts: each key narrows it, another Ctrl-R finds the next older match.

/** `at`: where the match begins in the text. */
type Match = { text: string; at: number }

export type Search = ReturnType<typeof createSearch>

export function createSearch(entries: readonly string[]) {
  const texts = [...new Set(entries.toReversed())]
  let query = ""
  let index = 0
  let match: Match | undefined

  return Object.freeze({
    get query() {
      return query
    },
    get match() {
      return match
    },
    setQuery,
    go,
  })

  function setQuery(text: string): void {
    query = text
    match = undefined
    index = 0
    if (query !== "") find(0, 1)
  }

  /** To the next older match, or back to a newer one. The last match stays if there is no other. */
  function go(step: 1 | -1): void {
    if (query !== "") find(index + step, step)
  }

  function find(from: number, step: 1 | -1): void {
    // Capital letters count if the person writes some.
    const isExact = query !== query.toLowerCase()
    for (let i = from; i >= 0 && i < texts.length; i += step) {
      const text = texts[i]!
      const at = (isExact ? text : text.toLowerCase()).indexOf(query)
      if (at < 0) continue
      index = i
      match = { text, at }
      return
    }
  }
}
