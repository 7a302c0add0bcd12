// Asks whether a tool call may run: what it would do in words, its change, and what "always" would allow, which the person
// can change first.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Client, PermissionRequest } from "#client/client.ts"
import { questionWords, ruleWords, targetWords } from "#client/permission-words.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { report } from "#edge/web/store/problems.ts"
import { dropQuestion } from "#edge/web/store/sessions.ts"
import { DiffView } from "./diff-view.ts"

type Reply = Omit<Parameters<Client["replyPermission"]>[0], "id">
type Props = { request: PermissionRequest; directory: string; more: string; onShown(): void; onSend(): void }

export function PermissionQuestion({ request, directory, more, onShown, onSend }: Props) {
  useEffect(onShown, [])
  const { needs } = request
  const reason = useSignal("")
  const problem = useSignal("")
  const isSending = useSignal(false)
  const canBeAlways = needs.length > 0 && needs.every(({ rules }) => rules.length > 0)
  const isEdit = canBeAlways && needs.every(({ permission }) => /^file\.(edit|write)$/.test(permission))
  const reply = async (answer: Reply) => {
    isSending.value = true
    onSend()
    try {
      const { notice } = await clientFor(directory).replyPermission({ id: request.id, ...answer })
      dropQuestion(request.id)
      if (notice) report(notice)
    } catch (error) {
      problem.value = (error as Error).message
    }
    isSending.value = false
  }
  const reject = () =>
    reply({ reply: "reject", ...(reason.value.trim() ? { message: reason.value.trim() } : {}) })
  return html`<section class="question" role="group" aria-label="Question" tabindex="-1">
    <h2>${needs.length ? questionWords(needs) : request.title}<span class="dim">${more}</span></h2>
    <${Asker} request=${request} />
    <${Targets} request=${request} />
    ${request.preview ? html`<${DiffView} text=${request.preview} />` : null}
    ${problem.value ? html`<p class="error" role="alert">${problem.value}</p>` : null}
    <div class="answers">
      <button type="button" class="primary" disabled=${isSending.value} onClick=${() => reply({ reply: "once" })}>Allow once</button>
      ${
        isEdit
          ? html`<button type="button" disabled=${isSending.value} onClick=${() => reply({ reply: "always", scope: "session", edits: true })}>
              All edits in this session
            </button>`
          : null
      }
      <button type="button" disabled=${isSending.value} onClick=${reject}>Reject</button>
      <input
        aria-label="Reason for the rejection"
        placeholder="What to do instead (optional)"
        value=${reason.value}
        onInput=${(event: InputEvent) => {
          reason.value = (event.target as HTMLInputElement).value
        }}
        onKeyDown=${(event: KeyboardEvent) => {
          if (event.key === "Enter" && !event.isComposing && reason.value.trim()) void reject()
        }}
      />
    </div>
    ${canBeAlways ? html`<${Always} request=${request} reply=${reply} />` : null}
  </section>`
}

function Asker({ request: { agents = [], agent, task } }: { request: PermissionRequest }) {
  const doer = agents.length > 1 ? agents.join(", working for ") : task && agent ? agent : ""
  if (!doer) return null
  return html`<p class="dim">Asked by ${doer}${task ? `, for the task: ${task}` : ""}</p>`
}

function Targets({ request }: { request: PermissionRequest }) {
  const targets = targetWords(request.needs)
  return html`<ul class="targets">
      ${request.needs.map(
        ({ target, parts = [], changed }, i) => html`<li key=${i}>
          ${targets[i] === undefined ? null : html`<code>${targets[i]}</code>`}
          ${changed ? html`<span class="dim">It was allowed before and has changed since.</span>` : null}
          ${parts
            .filter(({ why }) => why)
            .map(
              ({ from, to, why }) =>
                html`<p class="risk">Risky: <code>${target.slice(from, to)}</code> ${why}</p>`,
            )}
        </li>`,
      )}
    </ul>
    ${request.protected ? html`<p class="risk">It would change what decides what runs, or leads out of the workspace.</p>` : null}`
}

/** The rules are shown as they would be stored, and in words. */
function Always({ request, reply }: { request: PermissionRequest; reply(answer: Reply): Promise<void> }) {
  const given = request.needs
    .flatMap(({ rules }) => rules)
    .map(({ permission, pattern }) => `${permission}:${pattern}`)
    .join("\n")
  const rules = useSignal(given)
  const scope = useSignal<"project" | "session">("project")
  const lines = rules.value.split("\n").filter((line) => line.trim())
  const words = lines.flatMap((line) => ruleWords(line) ?? [])
  const send = () =>
    reply({
      reply: "always",
      scope: scope.value,
      ...(lines.join("\n") === given ? {} : { rules: lines }),
    })
  return html`<details class="always">
    <summary>Always allow…</summary>
    <p>Allows ${words.length ? words.join("; ") : "nothing"}.</p>
    <textarea
      aria-label="Rules, one in each line"
      rows=${Math.min(6, lines.length + 1)}
      readonly=${request.protected === true}
      spellcheck=${false}
      value=${rules.value}
      onInput=${(event: InputEvent) => {
        rules.value = (event.target as HTMLTextAreaElement).value
      }}
    ></textarea>
    <div class="answers">
      <label>
        Where
        <select
          value=${scope.value}
          onChange=${(event: Event) => {
            scope.value = (event.target as HTMLSelectElement).value as "project" | "session"
          }}
        >
          <option value="project">in this project</option>
          <option value="session">in this session</option>
        </select>
      </label>
      <button type="button" disabled=${!words.length} onClick=${send}>Allow always</button>
    </div>
  </details>`
}
