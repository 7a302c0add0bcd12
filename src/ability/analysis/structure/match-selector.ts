import { attributeOf, type Element } from "#ability/analysis/parse/html.ts"

/** Whether one of the selectors means the element. Only the last part of a selector is compared. */
export function matchesAny(element: Element, selectors: Iterable<string>): boolean {
  for (const list of selectors)
    for (const selector of list.split(",")) {
      const last =
        selector
          .trim()
          .split(/[\s>+~]+/)
          .at(-1) ?? ""
      if (last && matches(element, last)) return true
    }
  return false
}

function matches(element: Element, selector: string): boolean {
  const parts = selector.match(/^[\w-]+|[#.][\w-]+|\[[^\]]*\]/g) ?? []
  return (
    parts.length > 0 &&
    parts.every((part) => {
      if (part.startsWith("#")) return attributeOf(element, "id") === part.slice(1)
      if (part.startsWith("."))
        return (attributeOf(element, "class") ?? "").split(/\s+/).includes(part.slice(1))
      if (!part.startsWith("[")) return element.name === part.toLowerCase()
      const [, name = "", value] = /^\[([\w-]+)(?:[~|^$*]?=["']?([^"'\]]*))?/.exec(part) ?? []
      const own = attributeOf(element, name.toLowerCase())
      return own !== undefined && (value === undefined || own.includes(value))
    })
  )
}
