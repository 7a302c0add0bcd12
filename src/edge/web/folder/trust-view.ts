// Files of a folder that can run or allow something, and wait for a person's review: each with its difference.
import { useSignal } from "@preact/signals"
import type { Client } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { attempt, report } from "#edge/web/store/problems.ts"

type Waiting = Awaited<ReturnType<Client["listUntrusted"]>>
type Change = Waiting["changes"][number]
const maxLines = 2_000

export function TrustView({ folder }: { folder: string }) {
  const waiting = useData(
    () => clientFor(folder).listUntrusted(),
    [folder],
    (event) => event.type === "config.changed" && event.directory === folder,
  )
  const trust = (changes: Change[]) =>
    attempt(async () => {
      // With the hash that was shown: the server refuses a file that has changed since.
      const files = changes.map(({ path, hash }) => ({ path, ...(hash === undefined ? {} : { hash }) }))
      try {
        const { problems } = await clientFor(folder).trustFiles({ files })
        for (const problem of problems) report(new Error(problem))
      } finally {
        waiting.reload()
      }
    })
  return html`<${Loaded} data=${waiting}>
    ${({ changes, isTrusted }: Waiting) => html`
      <div class="tools">
        <p class="grow">
          ${isTrusted ? "This folder is trusted." : "Nobody has reviewed this folder. Until then its servers, hooks and rules do not run."}
          ${" "}${changes.length ? `${changes.length === 1 ? "1 file waits" : `${changes.length} files wait`} for review.` : ""}
        </p>
        ${changes.length > 1 ? html`<button type="button" onClick=${() => trust(changes)}>Trust all ${changes.length} files</button>` : null}
      </div>
      ${
        changes.length
          ? html`<ul class="cards">
              ${changes.map((change) => html`<${File} key=${change.path + change.hash} change=${change} onTrust=${() => trust([change])} />`)}
            </ul>`
          : html`<${Empty}>No file waits for review.<//>`
      }
    `}
  <//>`
}

function File({ change, onTrust }: { change: Change; onTrust(): void }) {
  const { path, state, diff, bytes, additions, deletions } = change
  const isWhole = useSignal(false)
  const lines = diff?.split("\n") ?? []
  return html`<li class="card">
    <div class="card-head">
      <h2 class="break">${path}</h2>
      <span class="dim">${state} · +${additions} −${deletions}</span>
      <span class="grow"></span>
      <button type="button" onClick=${onTrust} aria-label=${`Trust ${path}`}>Trust</button>
    </div>
    ${
      diff === undefined
        ? html`<p class="waits">It cannot be shown as text (${bytes ?? 0} bytes).</p>`
        : html`<pre class="output diff" tabindex="0" aria-label=${`Difference of ${path}`}>${(
            isWhole.value ? lines : lines.slice(0, maxLines)
          ).map((line) => html`<span class=${kindOf(line)}>${line}${"\n"}</span>`)}</pre>`
    }
    ${
      lines.length > maxLines && !isWhole.value
        ? html`<button
            type="button"
            onClick=${() => {
              isWhole.value = true
            }}
          >
            Show ${lines.length - maxLines} more lines
          </button>`
        : null
    }
  </li>`
}

function kindOf(line: string): string {
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""
}
