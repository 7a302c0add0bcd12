// A modal dialog. The browser keeps the focus inside, closes it with Escape, and gives the focus back.
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"

/** `children` get the function that closes the dialog. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose(): void
  children(close: () => void): ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  // At once: keys that are pressed as soon as it is drawn are for the dialog.
  useLayoutEffect(() => element.current?.showModal(), [])
  const close = () => element.current?.close()
  return html`<dialog ref=${element} class="dialog" aria-labelledby="dialog-title" onClose=${onClose}>
    <div class="dialog-head">
      <h2 id="dialog-title">${title}</h2>
      <button type="button" onClick=${close} aria-label="Close">×</button>
    </div>
    ${children(close)}
  </dialog>`
}
