// The files that a session and its tasks changed, with their diffs, and ways to undo and redo prompts.
import { useSignal } from "@preact/signals"
import type { Client } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import { DiffView } from "#edge/web/session/diff-view.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { Shown } from "./shown.ts"
import { splitDiff } from "./split-diff.ts"
import { UndoBox } from "./undo-box.ts"
import { useLive } from "./use-live.ts"

type Changes = Awaited<ReturnType<Client["getDiff"]>>

const pageSize = 100
/** Characters of one file; more would take the page too long. */
const maxDiff = 1_000_000

export function ChangesPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.getDiff({ id: open.id }), [
    "session.updated",
    "session.idle",
    "message.created",
  ])
  return html`
    <${UndoBox} open=${open} />
    <${Shown}
      live=${live}
      empty="This session has changed no files."
      isEmpty=${({ files, notes }: Changes) => !files.length && !notes.length}
    >
      ${(changes: Changes) => html`<${ChangesView} changes=${changes} />`}
    <//>
  `
}

function ChangesView({ changes: { files, text, conflicts, notes } }: { changes: Changes }) {
  const limit = useSignal(pageSize)
  const diffs = splitDiff(text)
  const reasons = new Map(conflicts.map(({ path, reason }) => [path, reason]))
  return html`
    ${notes.map((note) => html`<p class="dim">${note}</p>`)}
    <p><strong>${files.length === 1 ? "1 file" : `${files.length} files`}</strong></p>
    <ul class="files">
      ${files.slice(0, limit.value).map(
        ({ path, change }) => html`<${File}
            key=${path}
            path=${path}
            change=${change}
            diff=${diffs.get(path)}
            conflict=${reasons.get(path)}
            isOpen=${files.length <= 3}
          />`,
      )}
    </ul>
    ${
      files.length > limit.value
        ? html`<button
            type="button"
            onClick=${() => {
              limit.value += pageSize
            }}
          >
            Show more of ${files.length} files
          </button>`
        : null
    }
  `
}

type FileProps = { path: string; change: string; diff?: string; conflict?: string; isOpen: boolean }

/** The diff is drawn when it is opened. */
function File({ path, change, diff, conflict, isOpen }: FileProps) {
  const open = useSignal(isOpen)
  return html`<li>
    <details
      open=${open.value}
      onToggle=${(event: Event) => {
        open.value = (event.target as HTMLDetailsElement).open
      }}
    >
      <summary><span class="change" data-change=${change}>${change}</span> <code>${path}</code></summary>
      ${conflict ? html`<p class="error">An undo would not restore it: ${conflict}</p>` : null}
      ${open.value ? (diff ? html`<${DiffView} text=${hunksOf(diff)} />` : html`<p class="dim">No text to show.</p>`) : null}
    </details>
  </li>`
}

/** Without its head, which names the path again. A binary file has only a head. */
function hunksOf(diff: string): string {
  const from = diff.indexOf("\n@@ ") + 1
  return diff.slice(from, from + maxDiff)
}
