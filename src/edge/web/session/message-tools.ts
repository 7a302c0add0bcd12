// What a person can do with a message: copy it, see what it used, branch from it, or undo it and everything after it.
import { useSignal } from "@preact/signals"
import type { TextMessage } from "#client/client.ts"
import { count, money } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { CopyButton } from "#edge/web/part/copy-button.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { putSession } from "#edge/web/store/sessions.ts"

type Props = { message: TextMessage; open: OpenSession }

const UndoDialog = lazy(async () => (await import("#edge/web/part/undo-dialog.ts")).UndoDialog)

export function MessageTools({ message, open }: Props) {
  const shows = useSignal<"" | "usage" | "undo">("")
  const { parts, role } = message.data
  const isMine = mayChange(open.session())
  const text = parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("\n")
  const toggle = (what: "usage" | "undo") => {
    shows.value = shows.value === what ? "" : what
  }
  return html`<div class="tools" role="group" aria-label="Message">
      <${CopyButton} text=${text} />
      ${
        message.usage
          ? html`<button type="button" class="small" aria-expanded=${shows.value === "usage"} onClick=${() => toggle("usage")}>Usage</button>`
          : null
      }
      ${
        isMine
          ? html`<button type="button" class="small" title="Continue here on a new branch" onClick=${() => attempt(() => branchFrom(message, open))}>
              Branch
            </button>`
          : null
      }
      ${
        isMine && role === "user"
          ? html`<button type="button" class="small" title="Undo this message and everything after it" onClick=${() => toggle("undo")}>Undo…</button>`
          : null
      }
    </div>
    ${shows.value === "usage" ? html`<${UsageLine} message=${message} />` : null}
    ${
      shows.value === "undo"
        ? html`<${UndoDialog}
            message=${message}
            open=${open}
            close=${() => {
              shows.value = ""
            }}
          />`
        : null
    }`
}

function UsageLine({ message: { usage, model, time } }: { message: TextMessage }) {
  const { input, output, reasoning, cacheRead, cacheWrite, cost } = usage!
  const parts = [
    `${count(input)} tokens sent`,
    cacheRead ? `${count(cacheRead)} of them cached` : "",
    cacheWrite ? `${count(cacheWrite)} written to the cache` : "",
    `${count(output)} answered`,
    reasoning ? `${count(reasoning)} of them reasoning` : "",
    cost === undefined ? "" : money(cost),
    model ?? "",
    new Date(time).toLocaleString(),
  ]
  return html`<p class="usage dim">${parts.filter(Boolean).join(" · ")}</p>`
}

/** The new branch gets a name that no other has. */
async function branchFrom(message: TextMessage, { client, id }: OpenSession): Promise<void> {
  const names = new Set((await client.listBranches({ id })).map(({ name }) => name))
  let number = names.size + 1
  while (names.has(`branch-${number}`)) number++
  // A prompt is written again: its branch starts before it.
  const from = message.data.role === "user" ? message.parentId : message.id
  putSession(await client.switchBranch({ id, name: `branch-${number}`, from }))
}
