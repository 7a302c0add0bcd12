// The things to do with a session of the list: rename, fork, remove.
import { useSignal } from "@preact/signals"
import type { Session } from "#client/client.ts"
import { clientFor, isMissingFolder } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { address, go } from "#edge/web/base/router.ts"
import { Dialog } from "#edge/web/part/dialog.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { putSession, removeSession } from "#edge/web/store/sessions.ts"

export function SessionActions({ session, onClose }: { session: Session; onClose(): void }) {
  const title = useSignal(session.title)
  const isSure = useSignal(false)
  const { id, directory } = session
  const client = clientFor(directory)
  const rename = (close: () => void) =>
    attempt(async () => {
      putSession(await client.updateSession({ id, title: title.value.trim() }))
      close()
    })
  const fork = (close: () => void) =>
    attempt(async () => {
      const copy = await client.forkSession({ id })
      putSession(copy)
      close()
      go(address("session", copy.id).slice(1))
    })
  const remove = (close: () => void) =>
    attempt(async () => {
      await client.removeSession({ id }).catch((error) => {
        if (!isMissingFolder(error)) throw error
        return clientFor().removeSession({ id })
      })
      removeSession(id)
      close()
    })
  return html`<${Dialog} title=${session.title || "Untitled"} onClose=${onClose}>
    ${(close: () => void) => html`
      <form
        class="line"
        onSubmit=${(event: Event) => {
          event.preventDefault()
          if (title.value.trim()) rename(close)
        }}
      >
        <label class="choice grow">
          <span>Title</span>
          <input
            value=${title.value}
            maxlength="500"
            required
            onInput=${(event: InputEvent) => {
              title.value = (event.target as HTMLInputElement).value
            }}
          />
        </label>
        <button type="submit">Rename</button>
      </form>
      <div class="line">
        <button type="button" onClick=${() => fork(close)}>Fork</button>
        <span class="dim">A new session with the same messages.</span>
      </div>
      <div class="line">
        ${
          isSure.value
            ? html`<button type="button" class="danger" onClick=${() => remove(close)}>Remove for ever</button>
              <span role="status">Its messages cannot be restored. Files stay as they are.</span>`
            : html`<button
                type="button"
                onClick=${() => {
                  isSure.value = true
                }}
              >
                Remove…
              </button>`
        }
      </div>
    `}
  <//>`
}
