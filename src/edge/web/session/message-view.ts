// One message of a conversation, by its type. A message that cannot be drawn does not stop the others.
import { useEffect, useErrorBoundary, useMemo } from "preact/hooks"
import { attachmentWords } from "#client/attachment-words.ts"
import type { FileReferenceMessage, McpResourceMessage, Message, TextMessage } from "#client/client.ts"
import { controlWords } from "#client/control-words.ts"
import { withColors } from "#client/with-colors.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { CallView } from "./call-view.ts"
import { ImageView } from "./image-view.ts"
import { GrowingMarkdown, Markdown } from "./markdown.ts"
import { MessageTools } from "./message-tools.ts"
import { TerminalText } from "./terminal-text.ts"

type Shown<T> = { message: T; open: OpenSession }

const maxAttached = 20_000

export function MessageView({ message, open }: Shown<Message>) {
  const [error, reset] = useErrorBoundary()
  useEffect(() => {
    if (error) reset()
  }, [message])
  const view = useMemo(() => html`<${Body} message=${message} open=${open} />`, [message, open])
  return error ? html`<p class="dim control">A message that this page cannot show.</p>` : view
}

function Body({ message, open }: Shown<Message>) {
  switch (message.type) {
    case "text":
      return html`<${TextView} message=${message} open=${open} />`
    case "tool_request":
      return html`${message.data.calls.map((call) => html`<${CallView} key=${call.id} call=${call} open=${open} View=${MessageView} />`)}`
    case "tool_result":
      // Shown with its call.
      return null
    case "system_control":
      return html`<p class="control dim">${controlWords(message.data)}</p>`
    case "file_reference":
    case "mcp_resource":
      return html`<${Attachment} message=${message} />`
    case "image":
      return html`<${ImageView} message=${message} open=${open} />`
    default:
      return html`<p class="control dim">A message of a type that this page does not know.</p>`
  }
}

function TextView({ message, open }: Shown<TextMessage>) {
  const { role, parts, origin, error, finish } = message.data
  if (origin?.kind === "shell") return html`<${ShellView} message=${message} />`
  if (role === "system")
    return html`<details class="note dim"><summary>${origin ? `${origin.kind}: ${origin.name}` : "Note"}</summary>
      <pre class="output">${textOf(parts)}</pre></details>`
  return html`<article class=${`message ${role}`} data-id=${message.id} aria-label=${role === "user" ? "You" : (message.agent ?? "Answer")}>
    ${parts.map((part, i) =>
      part.type === "reasoning"
        ? html`<${Reasoning} key=${i} text=${part.text} />`
        : html`<${Markdown} key=${i} text=${String(part.text)} />`,
    )}
    ${finish === "interrupted" || (role === "assistant" && !finish && !isWorking(open)) ? html`<p class="dim">Interrupted.</p>` : null}
    ${finish === "length" ? html`<p class="dim">The answer reached its limit.</p>` : null}
    ${error ? html`<p class="error">${error.message}</p>` : null}
    <${MessageTools} message=${message} open=${open} />
  </article>`
}

function isWorking(open: OpenSession): boolean {
  const { status } = open.session()
  return status === "busy" || status === "waiting"
}

function Reasoning({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  return html`<details class="reasoning dim" open=${isOpen}><summary>Reasoning</summary><pre class="plain">${text}</pre></details>`
}

/** A command of the person. The first line of its text is ours; the output could claim anything. */
function ShellView({ message }: { message: TextMessage }) {
  const text = textOf(message.data.parts)
  const code = /^.* It ended with exit code (\S+)\.\n/.exec(text)?.[1]
  const output = /<output>\n(.*)\n<\/output>$/s.exec(text)?.[1] ?? text
  return html`<article class="message user shell" aria-label="You">
    <code class="command">! ${message.data.origin?.name}</code>
    <${TerminalText} text=${withColors(output, message.data.origin?.colors)} />
    ${code === undefined ? null : html`<p class="error">${code === "none" ? "Stopped." : `Exit code ${code}`}</p>`}
  </article>`
}

function Attachment({ message }: { message: FileReferenceMessage | McpResourceMessage }) {
  const words = attachmentWords(message) ?? "· attaching…"
  const { content } = message.data
  const isText = !("mimeType" in message.data) || /^text\/|json|xml|^$/.test(message.data.mimeType ?? "")
  if (!content || !isText) return html`<p class="control dim">${words}</p>`
  return html`<details class="attachment dim">
    <summary>${words}</summary>
    <pre class="output" tabindex="0">${content.slice(0, maxAttached)}${content.length > maxAttached ? "\n…" : ""}</pre>
  </details>`
}

/** The answer while it streams. */
export function LiveAnswer({ open }: { open: OpenSession }) {
  const streamed = open.answer.value
  if (!streamed) return null
  return html`<article class="message assistant live" aria-busy="true" aria-label="Answer">
    ${streamed.reasoning ? html`<${Reasoning} text=${streamed.reasoning} isOpen=${!streamed.text} />` : null}
    <${GrowingMarkdown} key=${streamed.id} text=${streamed.text} />
  </article>`
}

export function textOf(parts: TextMessage["data"]["parts"]): string {
  return parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("")
}
