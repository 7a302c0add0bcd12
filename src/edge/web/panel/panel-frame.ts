// The tabs that open panels, and the box that holds the open one.
import { useEffect, useRef } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { Boundary } from "#edge/web/part/boundary.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { panels } from "./panels.ts"

/** Arrow keys move between tabs, Enter opens one. Only the open tab is in the order of the Tab key. */
export function Tabs({ id, tab }: { id: string; tab: string }) {
  const all = [["", "Conversation"], ...Object.entries(panels).map(([name, { title }]) => [name, title])]
  const move = (event: KeyboardEvent) => {
    const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")]
    const at = links.indexOf(document.activeElement as HTMLElement)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + links.length, Home: 0, End: links.length - 1 }[
      event.key
    ]
    if (event.key === " ") links[at]?.click()
    if (to === undefined && event.key !== " ") return
    event.preventDefault()
    if (to !== undefined) links[to % links.length]!.focus()
  }
  const list = useRef<HTMLDivElement>(null)
  // On a narrow screen the row of tabs scrolls.
  useEffect(() => {
    list
      .current!.querySelector("[aria-selected=true]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [tab])
  return html`<div ref=${list} class="tabs" role="tablist" aria-label="Parts of the session" onKeyDown=${move}>
    ${all.map(
      ([name = "", title]) => html`<a
        key=${name}
        id=${`tab-${name}`}
        role="tab"
        href=${name ? address("session", id, name) : address("session", id)}
        aria-selected=${name === tab ? "true" : "false"}
        aria-controls=${name === tab ? (name ? "panel" : "talk") : undefined}
        tabindex=${name === tab ? 0 : -1}
        >${title}</a
      >`,
    )}
  </div>`
}

export function PanelBox({ name, open }: { name: string; open: OpenSession }) {
  const { View } = panels[name]!
  return html`<section class="panel" id="panel" role="tabpanel" aria-labelledby=${`tab-${name}`} tabindex="0">
    <${Boundary} key=${name} what="This panel"><${View} open=${open} /><//>
  </section>`
}
