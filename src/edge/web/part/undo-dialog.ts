// Asks before a message and everything after it are undone, and says which files would change.
import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { Reverted, TextMessage } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { attempt } from "#edge/web/store/problems.ts"

type Props = { message: TextMessage; open: OpenSession; close(): void }

export function UndoDialog({ message, open, close }: Props) {
  const box = useRef<HTMLDialogElement>(null)
  const plan = useSignal<Reverted | undefined>(undefined)
  const { client, id } = open
  // At once: keys that are pressed as soon as it is drawn are for the dialog.
  useLayoutEffect(() => box.current?.showModal(), [])
  useEffect(() => {
    attempt(async () => {
      plan.value = await client.revertSession({ id, messageId: message.id, preview: true })
    })
  }, [])
  const undo = () =>
    attempt(async () => {
      close()
      await client.revertSession({ id, messageId: message.id, force: Boolean(plan.value?.conflicts.length) })
    })
  const found = plan.value
  return html`<dialog ref=${box} onClose=${close} aria-label="Undo">
    <h2>Undo this message and everything after it?</h2>
    ${found ? html`<${FileList} title="Restored" paths=${found.restored} /><${FileList} title="Removed" paths=${found.removed} />` : html`<p>Looking…</p>`}
    ${
      found?.conflicts.length
        ? html`<p class="error">Changed by others since; their changes would be lost:</p>
          <ul>${found.conflicts.map(({ path, reason }) => html`<li><code>${path}</code> ${reason}</li>`)}</ul>`
        : null
    }
    ${found?.notes.map((note) => html`<p class="dim">${note}</p>`)}
    <div class="answers">
      <button type="button" class="primary" disabled=${!found} onClick=${undo}>${found?.conflicts.length ? "Undo anyway" : "Undo"}</button>
      <button type="button" onClick=${close}>Cancel</button>
    </div>
  </dialog>`
}

function FileList({ title, paths }: { title: string; paths: string[] }) {
  if (!paths.length) return null
  return html`<p>${title}:</p>
    <ul>${paths.map((path) => html`<li key=${path}><code>${path}</code></li>`)}</ul>`
}
