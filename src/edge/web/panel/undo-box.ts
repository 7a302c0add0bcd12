// Undo and redo. Nothing is done before a preview has shown what would happen; files that others have changed since are only
// overwritten after a second question.
import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import type { Message, Reverted } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"

type Plan = {
  title: string
  effect: Reverted
  run(force: boolean): Promise<Reverted>
}

const maxPrompts = 50
const maxText = 80

export function UndoBox({ open }: { open: OpenSession }) {
  const prompts = open.messages.value.filter(isPrompt).slice(-maxPrompts).reverse()
  const picked = useSignal("")
  const plan = useSignal<Plan | undefined>(undefined)
  const said = useSignal("")
  const isBusy = open.session().status === "busy" || open.session().status === "waiting"
  const target = prompts.find(({ id }) => id === picked.value) ?? prompts[0]
  const { client, id } = open
  // The preview goes with its buttons, and the focus must not go with them.
  const box = useRef<HTMLElement>(null)
  const hadPlan = useRef(false)
  const asked = useRef(0)
  useLayoutEffect(() => {
    if (hadPlan.current && !plan.value) box.current!.focus()
    hadPlan.current = plan.value !== undefined
  }, [plan.value])

  const preview = (
    title: string,
    run: (options: { force?: boolean; preview?: boolean }) => Promise<Reverted>,
  ) =>
    attempt(async () => {
      const own = ++asked.current
      said.value = ""
      const effect = await run({ preview: true })
      // Something else may have been chosen meanwhile.
      if (own === asked.current) plan.value = { title, effect, run: (force) => run({ force }) }
    })
  const finish = (force: boolean) =>
    attempt(async () => {
      const { title, run } = plan.value!
      plan.value = undefined
      const done = await run(force)
      said.value = `${title}: ${countOf(done.restored.length + done.removed.length)} restored or removed.`
    })
  if (!mayChange(open.session())) return null
  return html`<section class="undo" aria-label="Undo and redo" tabindex="-1" ref=${box}>
    <div class="line">
      ${
        target
          ? html`<select
                aria-label="Undo from this prompt on"
                value=${target.id}
                onChange=${(event: Event) => {
                  picked.value = (event.target as HTMLSelectElement).value
                  plan.value = undefined
                  asked.current++
                }}
              >
                ${prompts.map((message) => html`<option key=${message.id} value=${message.id}>${textOf(message)}</option>`)}
              </select>
              <button
                type="button"
                disabled=${isBusy}
                onClick=${() => preview("Undo", (options) => client.revertSession({ id, messageId: target.id, ...options }))}
              >
                Undo…
              </button>`
          : null
      }
      <button
        type="button"
        disabled=${isBusy}
        onClick=${() => preview("Redo", (options) => client.redoSession({ id, ...options }))}
      >
        Redo…
      </button>
    </div>
    <p role="status">${said.value}</p>
    ${
      plan.value
        ? html`<${Preview}
            plan=${plan.value}
            isBusy=${isBusy}
            onRun=${finish}
            onCancel=${() => {
              plan.value = undefined
            }}
          />`
        : null
    }
  </section>`
}

type PreviewProps = { plan: Plan; isBusy: boolean; onRun(force: boolean): void; onCancel(): void }

function Preview({ plan, isBusy, onRun, onCancel }: PreviewProps) {
  const { title, effect } = plan
  const box = useRef<HTMLDivElement>(null)
  const isSure = useSignal(false)
  // At once: keys that are pressed as soon as it is drawn are for the preview.
  useLayoutEffect(() => box.current!.focus(), [plan])
  const isNothing = !effect.restored.length && !effect.removed.length && !effect.conflicts.length
  return html`<div
    class="undo-preview"
    role="group"
    aria-label=${`What ${title.toLowerCase()} would do`}
    tabindex="-1"
    ref=${box}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== "Escape") return
      event.preventDefault()
      onCancel()
    }}
  >
    ${isNothing ? html`<p>No file would change, only the conversation.</p>` : null}
    <${Paths} title="Restored" paths=${effect.restored} />
    <${Paths} title="Removed" paths=${effect.removed} />
    ${
      effect.conflicts.length
        ? html`<h3>Conflicts</h3>
            <p>Nothing is done unless they are overwritten.</p>
            <ul>${effect.conflicts.map(({ path, reason }) => html`<li key=${path}><code>${path}</code>: ${reason}</li>`)}</ul>`
        : null
    }
    ${effect.notes.map((note) => html`<p class="dim">${note}</p>`)}
    <div class="line">
      ${
        !effect.conflicts.length
          ? html`<button type="button" class="primary" disabled=${isBusy} onClick=${() => onRun(false)}>${title}</button>`
          : isSure.value
            ? html`<button type="button" class="danger" disabled=${isBusy} onClick=${() => onRun(true)}>
                Really overwrite ${countOf(effect.conflicts.length)}
              </button>`
            : html`<button
                type="button"
                onClick=${() => {
                  isSure.value = true
                }}
              >
                ${title} and overwrite conflicts…
              </button>`
      }
      <button type="button" onClick=${onCancel}>Cancel</button>
    </div>
  </div>`
}

function Paths({ title, paths }: { title: string; paths: string[] }) {
  if (!paths.length) return null
  return html`<h3>${title}</h3>
    <ul>${paths.map((path) => html`<li key=${path}><code>${path}</code></li>`)}</ul>`
}

function isPrompt(message: Message): boolean {
  return message.type === "text" && message.data.role === "user"
}

function textOf(message: Message): string {
  if (message.type !== "text") return ""
  const text = message.data.parts.map((part) => part.text).join(" ")
  return `Undo from: ${text.slice(0, maxText)}${text.length > maxText ? "…" : ""}`
}

function countOf(files: number): string {
  return files === 1 ? "1 file" : `${files} files`
}
