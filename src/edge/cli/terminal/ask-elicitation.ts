// A question of an MCP server or of the vault in the terminal. It always says who asks. An address is shown, never opened.
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import { askerWords } from "#client/check-form.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { type Ask, converse } from "./converse.ts"
import { safeText } from "./safe-text.ts"

const actions = "[a]ccept, [d]ecline, [c]ancel: "

export async function askElicitation(request: Elicitation.Request, stop: AbortSignal): Promise<void> {
  const isOpen = () => Elicitation.pending().some(({ id }) => id === request.id)
  if (stop.aborted || !isOpen()) return
  const over = new AbortController()
  const unsubscribe = Bus.subscribe(Elicitation.Replied, ({ id }) => {
    if (id === request.id) over.abort()
  })
  try {
    const reply = await converse(AbortSignal.any([over.signal, stop]), (ask) => answer(request, ask))
    if (reply && isOpen()) Elicitation.reply(request.id, reply)
  } catch (error) {
    Log.warn("an answer could not be given", { error })
  } finally {
    unsubscribe()
  }
}

async function answer(request: Elicitation.Request, ask: Ask): Promise<Elicitation.Reply> {
  const { server, message, url, fields = [] } = request
  const lines = [`${safe(askerWords(server))} asks:`, ...indented(message)]
  if (url)
    lines.push(`  ${safe(url)}`, "  Open it yourself if you trust it; accept when you are done with it.")
  const names = fields.map(({ name }) => safe(name)).join(", ")
  if (names) lines.push(`  It wants to know: ${names}`)
  const word = ((await ask(`${lines.join("\n")}\n${actions}`)) ?? "cancel").trim()
  if (/^(c|cancel)$/i.test(word)) return { action: "cancel" }
  if (!/^(a|accept|y|yes)$/i.test(word)) return { action: "decline" }
  return url ? { action: "accept" } : fillIn(fields, ask)
}

async function fillIn(fields: Elicitation.Field[], ask: Ask): Promise<Elicitation.Reply> {
  const content: NonNullable<Elicitation.Reply["content"]> = {}
  for (let at = 0; at < fields.length; ) {
    const field = fields[at]!
    const typed = await ask(promptFor(field), { hidden: field.format === "password" })
    if (typed === undefined) return { action: "cancel" }
    const value = typed.trim() ? Elicitation.readTyped(field, typed) : field.default
    const given = value === undefined ? {} : { [field.name]: value }
    const problem = Elicitation.problemOf([field], given)
    if (problem) process.stderr.write(`  ${safe(problem)}\n`)
    else Object.assign(content, given)
    if (!problem) at++
  }
  return { action: "accept", content }
}

/** `  name (required) Your full name: ` */
function promptFor(field: Elicitation.Field): string {
  const { name, title, description, kind, options = [], required, format } = field
  const choices = options.map(({ value, title }) => (title === value ? value : `${value} = ${title}`))
  const hints = [
    required ? "required" : "",
    format ?? (kind === "text" || kind.startsWith("choice") ? "" : kind === "boolean" ? "yes or no" : kind),
    kind === "choices" ? "several, with commas between" : "",
    field.default === undefined ? "" : `otherwise ${[field.default].flat().join(",")}`,
  ].filter(Boolean)
  const about = [title, description].filter((text) => text && text !== name).join(": ")
  const list = choices.map((choice) => `    ${safe(choice)}\n`).join("")
  return `${list}  ${safe(name)}${hints.length ? ` (${safe(hints.join("; "))})` : ""}${about ? ` ${safe(about)}` : ""}: `
}

function indented(text: string): string[] {
  return Secret.redact(safeText(text))
    .split("\n")
    .map((line) => `  ${line}`)
}

function safe(text: string): string {
  return Secret.redact(Log.escapeControls(text))
}
