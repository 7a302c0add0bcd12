// Where a person writes: a prompt with files, commands and images, or a command of their own; what waits in the queue; and
// the button that stops the turn.
import { type Signal, useSignal } from "@preact/signals"
import { useMemo, useRef } from "preact/hooks"
import type { WaitingPrompt } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import { readStored, store } from "#edge/web/base/stored.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { Choosers } from "./choosers.ts"
import { type Completion, createCompletion } from "./complete.ts"
import { textOf } from "./message-view.ts"
import type { Picture } from "./pictures.ts"

const Pictures = lazy(async () => (await import("./pictures.ts")).Pictures)

const listId = "choices"

export function Composer({ open }: { open: OpenSession }) {
  const key = `draft:${open.id}`
  const text = useSignal(readStored(key, "page") ?? "")
  const pictures = useSignal<readonly Picture[]>([])
  const completion = useMemo(() => createCompletion(open), [open])
  const { status } = open.session()
  const isBusy = status === "busy" || status === "waiting"
  const write = (value: string) => {
    text.value = value
    store(key, value, "page")
  }
  const send = () => {
    const prompt = text.value.trim()
    const images = pictures.value
    if (!prompt && !images.length) return
    write("")
    pictures.value = []
    completion.close()
    attempt(async () => {
      try {
        if (prompt.startsWith("!"))
          await open.client.runShell({ id: open.id, command: prompt.slice(1).trim() })
        else if (!images.length) await open.send({ text: prompt })
        else await open.send({ text: prompt, parts: (await import("./pictures.ts")).partsOf(images) })
      } catch (error) {
        // What could not be sent comes back.
        if (!text.value && !pictures.value.length) {
          write(prompt)
          pictures.value = images
        }
        throw error
      }
    })
  }
  const take = (files: readonly File[]) =>
    attempt(async () => (await import("./pictures.ts")).addPictures(pictures, files))
  return html`<form
    class="composer"
    onSubmit=${(event: Event) => {
      event.preventDefault()
      send()
    }}
    onDragOver=${(event: DragEvent) => event.preventDefault()}
    onDrop=${(event: DragEvent) => {
      event.preventDefault()
      take([...(event.dataTransfer?.files ?? [])])
    }}
  >
    ${open.prompts.value.map((prompt) => html`<${Queued} key=${prompt.id} prompt=${prompt} open=${open} />`)}
    ${pictures.value.length ? html`<${Pictures} pictures=${pictures} />` : null}
    <${Choices} completion=${completion} />
    <${Input} open=${open} text=${text} write=${write} send=${send} completion=${completion} take=${take} isBusy=${isBusy} />
    <div class="line">
      <${Choosers} open=${open} />
      <label class="attach" title="Attach images">
        <span aria-hidden="true">+ Image</span>
        <input
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          multiple
          aria-label="Attach images"
          onChange=${(event: Event) => {
            const input = event.target as HTMLInputElement
            take([...(input.files ?? [])])
            input.value = ""
          }}
        />
      </label>
      <span class="buttons">
        <button type="button" class="stop" disabled=${!isBusy} onClick=${() => attempt(open.stop)}>Stop</button>
        <button type="submit" class="primary">${text.value.startsWith("!") ? "Run" : "Send"}</button>
      </span>
    </div>
  </form>`
}

type InputProps = {
  open: OpenSession
  text: Signal<string>
  write(text: string): void
  send(): void
  completion: Completion
  take(files: readonly File[]): void
  isBusy: boolean
}

function Input({ open, text, write, send, completion, take, isBusy }: InputProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  /** How far back in the history the person is; 0: not in it. */
  const back = useRef(0)
  const put = (value: string, caret = value.length) => {
    write(value)
    // Now, so that the caret can be placed.
    box.current!.value = value
    box.current!.setSelectionRange(caret, caret)
  }
  const accept = () => {
    const done = completion.accept(text.value)
    if (!done) return
    put(done.text, done.caret)
    if (/\/"?$/.test(done.text.slice(0, done.caret))) void completion.update(done.text, done.caret)
  }
  const recall = (step: 1 | -1) => {
    const earlier = open.messages.value.flatMap((message) =>
      message.type === "text" && message.data.role === "user" ? [textOf(message.data.parts)] : [],
    )
    back.current = Math.min(earlier.length, Math.max(0, back.current + step))
    put(back.current ? earlier.at(-back.current)! : "")
  }
  const onList = (event: KeyboardEvent): boolean => {
    if (!completion.choices.value.length) return false
    if (event.key === "ArrowDown") completion.move(1)
    else if (event.key === "ArrowUp") completion.move(-1)
    else if (event.key === "Escape") completion.close()
    else if (event.key === "Tab" || (event.key === "Enter" && !isTyped(completion, text.value))) accept()
    else return false
    return true
  }
  const onKey = (event: KeyboardEvent): boolean => {
    if (onList(event)) return true
    if (event.key === "Enter" && !event.shiftKey) send()
    else if (event.key === "Escape" && isBusy) attempt(open.stop)
    else if (event.key === "ArrowUp" && (!text.value || back.current > 0)) recall(1)
    else if (event.key === "ArrowDown" && back.current > 0) recall(-1)
    else return false
    return true
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || !onKey(event)) return
    event.preventDefault()
    event.stopPropagation()
  }
  const hasList = completion.choices.value.length > 0
  return html`<textarea
    ref=${box}
    aria-label="Prompt"
    aria-autocomplete="list"
    aria-haspopup="listbox"
    aria-controls=${hasList ? listId : undefined}
    aria-activedescendant=${hasList ? `${listId}-${completion.selected.value}` : undefined}
    placeholder="Write a prompt — @ for files, / for commands, ! to run a command"
    rows="3"
    value=${text.value}
    onInput=${(event: InputEvent) => {
      const { value, selectionStart } = event.target as HTMLTextAreaElement
      back.current = 0
      write(value)
      void completion.update(value, selectionStart)
    }}
    onBlur=${() => completion.close()}
    onKeyDown=${onKeyDown}
    onPaste=${(event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (!files.length) return
      event.preventDefault()
      take(files)
    }}
  ></textarea>`
}

/** A whole command was typed: Enter sends it. */
function isTyped({ choices, selected }: Completion, text: string): boolean {
  return text === `/${choices.value[selected.value]?.value}`
}

function Choices({ completion }: { completion: Completion }) {
  const { choices, selected } = completion
  return html`<div class="choices-box">
    <span class="unseen" role="status">${choices.value.length ? `${choices.value.length} suggestions` : ""}</span>
    ${
      choices.value.length
        ? html`<ul class="choices" id=${listId} role="listbox" aria-label="Suggestions">
            ${choices.value.map((choice, i) => html`<${ChoiceRow} key=${choice.value} choice=${choice} i=${i} isSelected=${i === selected.value} completion=${completion} />`)}
          </ul>`
        : null
    }
  </div>`
}

type RowProps = {
  choice: { value: string; about: string }
  i: number
  isSelected: boolean
  completion: Completion
}

function ChoiceRow({ choice, i, isSelected, completion }: RowProps) {
  return html`<li
    id=${`${listId}-${i}`}
    role="option"
    aria-selected=${isSelected}
    ref=${(element: HTMLElement | null) => isSelected && element?.scrollIntoView({ block: "nearest" })}
    onMouseDown=${(event: MouseEvent) => {
      // The box keeps the focus.
      event.preventDefault()
      completion.selected.value = i
      document
        .querySelector(".composer textarea")!
        .dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }))
    }}
  >
    <span>${choice.value}</span> <span class="dim">${choice.about}</span>
  </li>`
}

function Queued({ prompt, open }: { prompt: WaitingPrompt; open: OpenSession }) {
  const words = prompt.parts.map((part) => (part.type === "text" ? part.text : part.type)).join(" ")
  const withdraw = () => {
    // The button goes, and the focus must not go with it.
    document.querySelector<HTMLElement>(".composer textarea")?.focus()
    attempt(() => open.withdraw(prompt.id))
  }
  return html`<p class="queued">
    <span>Waits: ${words}</span>
    <button type="button" class="small" onClick=${withdraw}>Withdraw</button>
  </p>`
}
