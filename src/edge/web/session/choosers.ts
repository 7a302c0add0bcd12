// Which agent and model answer, and what they may do without asking.
import { useSignal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import type { Agent, UsableModel } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { putSession } from "#edge/web/store/sessions.ts"
import { createModeChoice, type Preset } from "./mode-choice.ts"

export function Choosers({ open }: { open: OpenSession }) {
  const agents = useSignal<readonly Agent[]>([])
  const models = useSignal<readonly UsableModel[]>([])
  const { client, id } = open
  const { agent, model, fallbackModel } = open.session()
  const isRead = open.isRead.value
  useEffect(() => {
    // A session whose folder is gone has nothing to choose from.
    if (!isRead) return
    attempt(async () => {
      agents.value = (await client.listAgents()).filter(({ mode }) => mode === "primary")
    })
    attempt(async () => {
      models.value = await client.listUsableModels()
    })
  }, [client, isRead])
  const update = (change: { agent?: string; model?: string }) =>
    attempt(async () => putSession(await client.updateSession({ id, ...change })))
  const modelNames = models.value.map((one) => `${one.provider}/${one.id}`)
  return html`<div class="choosers">
    <${Chooser}
      label="Agent"
      value=${agent}
      options=${withValue(
        agents.value.map((one) => ({ value: one.id, title: one.name })),
        agent,
      )}
      choose=${(value: string) => update({ agent: value })}
    />
    <${Chooser}
      label="Model"
      value=${model ?? ""}
      options=${withValue(
        [
          { value: "", title: fallbackModel ? `${fallbackModel} (chosen)` : "Model of the settings" },
          ...modelNames.map((value) => ({ value, title: value })),
        ],
        model ?? "",
      )}
      choose=${(value: string) => value && update({ model: value })}
    />
    <${ModeChooser} open=${open} />
  </div>`
}

function ModeChooser({ open }: { open: OpenSession }) {
  const choice = useMemo(() => createModeChoice(open), [open])
  const { status } = open.session()
  const isRead = open.isRead.value
  const isWorking = status === "busy" || status === "waiting"
  useEffect(() => {
    if (isRead) attempt(choice.readGrants)
  }, [choice, status, isRead])
  useEffect(() => {
    if (!isWorking) attempt(choice.continue)
  }, [choice, isWorking])
  return html`<${Chooser}
    label="Mode"
    value=${choice.shown()}
    options=${[
      { value: "ask", title: "Ask before changes" },
      { value: "accept edits", title: "Accept edits" },
      { value: "plan", title: "Plan only" },
    ]}
    choose=${(chosen: string) => attempt(() => choice.choose(chosen as Preset))}
  />`
}

type Option = { value: string; title: string }
type ChooserProps = { label: string; value: string; options: Option[]; choose(value: string): void }

function Chooser({ label, value, options, choose }: ChooserProps) {
  return html`<select aria-label=${label} title=${label} value=${value} onChange=${(event: Event) => choose((event.target as HTMLSelectElement).value)}>
    ${options.map((option) => html`<option key=${option.value} value=${option.value} selected=${option.value === value}>${option.title}</option>`)}
  </select>`
}

/** Before the list is read, and for something that it no longer has. */
function withValue(options: Option[], value: string): Option[] {
  return options.some((option) => option.value === value) ? options : [{ value, title: value }, ...options]
}
