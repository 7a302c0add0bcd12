// A list that draws only the rows near the screen, so that thousands of rows cost no more than fifty. All rows have the
// same height, which the style sheet sets.
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"

/** Rows that are drawn above and below the screen: the Tab key finds them there. */
const margin = 10
const usualHeight = 60

export function WindowedRows<T>({
  items,
  keyOf,
  label,
  more,
  onEnd,
  draw,
}: {
  items: readonly T[]
  keyOf(item: T): string | number
  label: string
  /** Set if there are items that were not read; another value after each read. */
  more?: unknown
  /** Called if there are more, and the screen is near the last item. */
  onEnd?(): void
  draw(item: T): ComponentChildren
}) {
  const list = useRef<HTMLUListElement>(null)
  const height = useRef(usualHeight)
  const [range, setRange] = useState({ from: 0, to: 3 * margin })
  const update = () => {
    const element = list.current
    const scroller = element && scrollerOf(element)
    if (!scroller) return
    height.current = element.querySelector("li")?.offsetHeight || height.current
    const top = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top
    const from = Math.max(0, Math.floor(top / height.current) - margin)
    const to = Math.ceil((top + scroller.clientHeight) / height.current) + margin
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }))
  }
  useLayoutEffect(update, [items.length])
  useLayoutEffect(() => {
    const scroller = scrollerOf(list.current!)
    scroller.addEventListener("scroll", update, { passive: true })
    const sizes = new ResizeObserver(update)
    sizes.observe(scroller)
    return () => {
      scroller.removeEventListener("scroll", update)
      sizes.disconnect()
    }
  }, [])
  const isNearEnd = range.to >= items.length
  useEffect(() => {
    if (more && isNearEnd) onEnd?.()
  }, [more, isNearEnd])
  const from = Math.min(range.from, Math.max(0, items.length - 1))
  const to = Math.min(items.length, range.to)
  const space = {
    paddingTop: `${from * height.current}px`,
    paddingBottom: `${(items.length - to) * height.current}px`,
  }
  return html`<ul ref=${list} class="rows" aria-label=${label} style=${space}>
    ${items.slice(from, to).map(
      (
        item,
        at,
      ) => html`<li key=${keyOf(item)} aria-setsize=${more ? -1 : items.length} aria-posinset=${from + at + 1}>
        ${draw(item)}
      </li>`,
    )}
  </ul>`
}

function scrollerOf(element: HTMLElement): HTMLElement {
  return element.closest<HTMLElement>(".scroller") ?? document.getElementById("main")!
}
