// A question of an MCP server or of the vault: a form to fill in, or an address that the person may open. The server is
// always named.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { askerWords, type FormContent, type FormField, problemOf, readTyped } from "#client/check-form.ts"
import type { ElicitationReply, ElicitationRequest } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { dropQuestion } from "#edge/web/store/sessions.ts"

type Values = Record<string, string | string[]>
type Props = { request: ElicitationRequest; directory: string; more: string; onShown(): void; onSend(): void }

export function FormQuestion({ request, directory, more, onShown, onSend }: Props) {
  useEffect(onShown, [])
  const fields = request.fields ?? []
  const values = useSignal<Values>(Object.fromEntries(fields.map((field) => [field.name, initial(field)])))
  const problems = useSignal<Record<string, string>>({})
  const refused = useSignal("")
  const send = async (reply: ElicitationReply) => {
    onSend()
    try {
      await clientFor(directory).replyElicitation({ id: request.id, ...reply })
      dropQuestion(request.id)
    } catch (error) {
      refused.value = (error as Error).message
    }
  }
  const accept = (event: Event) => {
    event.preventDefault()
    const read = contentOf(fields, values.value)
    problems.value = read.problems
    const [wrong] = Object.keys(read.problems)
    if (wrong === undefined)
      void send({ action: "accept", ...(request.mode === "form" ? { content: read.content } : {}) })
    else document.getElementById(idOf(request, wrong))?.focus()
  }
  return html`<section class="question" role="group" aria-label="Question" tabindex="-1">
    <h2>${askerWords(request.server)} asks<span class="dim">${more}</span></h2>
    <p class="words">${request.message}</p>
    <form novalidate onSubmit=${accept}>
      ${request.url === undefined ? null : html`<${Address} url=${request.url} />`}
      ${fields.map(
        (field) => html`<${Field}
          key=${field.name}
          id=${idOf(request, field.name)}
          field=${field}
          value=${values.value[field.name]}
          problem=${problems.value[field.name]}
          change=${(value: string | string[]) => {
            values.value = { ...values.value, [field.name]: value }
          }}
        />`,
      )}
      ${refused.value ? html`<p class="error" role="alert">${refused.value}</p>` : null}
      <div class="answers">
        <button type="submit" class="primary">${request.mode === "url" ? "I am done" : "Send"}</button>
        <button type="button" onClick=${() => send({ action: "decline" })}>Decline</button>
        <button type="button" onClick=${() => send({ action: "cancel" })}>Cancel</button>
      </div>
    </form>
  </section>`
}

/** It is never opened by itself, and only if it is of the web. */
function Address({ url }: { url: string }) {
  const isWeb = /^https?:\/\//i.test(url)
  return html`<p class="address">
    <code>${url}</code>
    ${isWeb ? html` <a href=${url} target="_blank" rel="noopener noreferrer">Open it, if you trust it</a>` : null}
  </p>`
}

type FieldProps = {
  id: string
  field: FormField
  value: string | string[] | undefined
  problem: string | undefined
  change(value: string | string[]): void
}

function Field({ id, field, value = "", problem, change }: FieldProps) {
  const { name, title, description, required, kind } = field
  const label = `${title ?? name}${required ? " (required)" : ""}`
  const described = [description ? `${id}-about` : "", problem ? `${id}-problem` : ""]
    .filter(Boolean)
    .join(" ")
  const common = {
    id,
    "aria-describedby": described || undefined,
    "aria-invalid": problem ? "true" : undefined,
    "aria-required": required ? "true" : undefined,
  }
  const about = html`${description ? html`<small class="dim" id=${`${id}-about`}>${description}</small>` : null}
    ${problem ? html`<small class="error" id=${`${id}-problem`}>${problem}</small>` : null}`
  if (kind === "choices")
    return html`<fieldset class="field" ...${common} tabindex="-1">
      <legend>${label}</legend>
      ${(field.options ?? []).map((option) => html`<${Tick} key=${option.value} option=${option} chosen=${value as string[]} change=${change} />`)}
      ${about}
    </fieldset>`
  return html`<div class="field"><label for=${id}>${label}</label><${Input} field=${field} common=${common} value=${value} change=${change} />${about}</div>`
}

type TickProps = { option: { value: string; title: string }; chosen: string[]; change(value: string[]): void }

function Tick({ option, chosen, change }: TickProps) {
  const isChosen = chosen.includes(option.value)
  return html`<label class="tick">
    <input
      type="checkbox"
      checked=${isChosen}
      onChange=${() => change(isChosen ? chosen.filter((one) => one !== option.value) : [...chosen, option.value])}
    />
    ${option.title}
  </label>`
}

type InputProps = { field: FormField; common: object; value: string | string[]; change(value: string): void }

function Input({ field, common, value, change }: InputProps) {
  const onInput = (event: Event) => change((event.target as HTMLInputElement | HTMLSelectElement).value)
  const options =
    field.kind === "boolean"
      ? [
          { value: "true", title: "Yes" },
          { value: "false", title: "No" },
        ]
      : field.kind === "choice"
        ? (field.options ?? [])
        : undefined
  if (options)
    return html`<select ...${common} value=${value} onChange=${onInput}>
      <option value="">–</option>
      ${options.map((option) => html`<option key=${option.value} value=${option.value}>${option.title}</option>`)}
    </select>`
  return html`<input ...${common} type=${typeOf(field)} step="any" autocomplete="off" value=${value} onInput=${onInput} />`
}

function typeOf({ kind, format }: FormField): string {
  if (kind === "number" || kind === "integer") return "number"
  const types: Record<string, string> = {
    email: "email",
    uri: "url",
    date: "date",
    "date-time": "datetime-local",
    password: "password",
  }
  return types[format ?? ""] ?? "text"
}

function initial({ kind, default: value, format }: FormField): string | string[] {
  if (kind === "choices") return Array.isArray(value) ? value : []
  // What a browser's field takes: no seconds, no zone.
  if (format === "date-time" && typeof value === "string") return value.slice(0, 16)
  return value === undefined ? "" : String(value)
}

/** Empty fields are left out. What the server proposes was filled in at first: an empty field was emptied by the person. */
function contentOf(fields: readonly FormField[], values: Values) {
  const content: FormContent = {}
  const problems: Record<string, string> = {}
  for (const field of fields) {
    const value = readField(field, values[field.name] ?? "")
    const { default: _, ...empty } = field
    const problem = problemOf([empty], value === undefined ? {} : { [field.name]: value })
    if (problem) problems[field.name] = problem.replace(`${field.name}: `, "")
    else if (value !== undefined) content[field.name] = value
  }
  return { content, problems }
}

function readField(field: FormField, value: string | string[]): FormContent[string] | undefined {
  if (Array.isArray(value)) return value.length ? value : undefined
  if (!value.trim()) return undefined
  if (field.format === "date-time" && !Number.isNaN(Date.parse(value))) return new Date(value).toISOString()
  return readTyped(field, value)
}

function idOf({ id }: ElicitationRequest, name: string): string {
  return `field-${id}-${name}`
}
