// Asks questions in the terminal, one after the other: permission requests, which show what would run, and questions of MCP
// servers.
import type * as Elicitation from "#ability/elicitation/elicitation.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import { type Ask, converse } from "./converse.ts"

type Given = Permission.Details & { reply: Permission.Reply }

/** Ask all questions of this process, those of tasks included, until the returned function is called. */
export function askPerson(): () => void {
  const stop = new AbortController()
  let last = Promise.resolve()
  const unsubscribe = Bus.subscribe(Permission.Requested, (request) => {
    last = last.then(() => askOne(request, stop.signal))
  })
  // Subscribed by name: without MCP servers, the code for their questions is not loaded.
  const forServers = Bus.subscribe("*", ({ type, payload }) => {
    if (type !== "elicitation.requested") return
    const request = payload as Elicitation.Request
    last = last.then(async () => (await import("./ask-elicitation.ts")).askElicitation(request, stop.signal))
  })
  return () => {
    unsubscribe()
    forServers()
    stop.abort()
  }
}

async function askOne(request: Permission.Request, stop: AbortSignal): Promise<void> {
  const isOpen = () => Permission.pending().some(({ id }) => id === request.id)
  if (stop.aborted || !isOpen()) return
  const replied = new AbortController()
  const unsubscribe = Bus.subscribe(Permission.Replied, ({ id }) => {
    if (id === request.id) replied.abort()
  })
  try {
    const given = await converse(AbortSignal.any([replied.signal, stop]), (ask) =>
      askUntilDecided(request, ask),
    )
    const { reply, ...details } = given ?? {}
    if (!reply || !isOpen()) return
    const { notice } = await Permission.reply(request.id, reply, details)
    if (notice) process.stderr.write(`${notice}\n`)
  } catch (error) {
    Log.warn("the reply to a permission request could not be stored", { error })
  } finally {
    unsubscribe()
  }
}

/** Asks again after an explanation, or after the whole change was shown. */
async function askUntilDecided(request: Permission.Request, ask: Ask): Promise<Given> {
  const { choicesFor, explainChoices, isFolded, showChange, showQuestion } = await import(
    "./show-question.ts"
  )
  let shown = showQuestion(request)
  for (;;) {
    // Ctrl-D without text counts as no.
    const line = (await ask(shown + choicesFor(request))) ?? ""
    if (/^\s*(\?|h|help)\s*$/i.test(line)) shown = explainChoices(request)
    else if (isFolded(request) && /^\s*(d|diff)\s*$/i.test(line)) shown = showChange(request)
    else return readAnswer(line, request)
  }
}

function readAnswer(line: string, request: Permission.Request): Given {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(line)!
  if (/^(o|once|y|yes)$/i.test(word) && !rest) return { reply: "once" }
  if (/^(a|always)$/i.test(word) && !rest) return { reply: "always" }
  if (/^(s|session)$/i.test(word) && !rest) return { reply: "always", scope: "session" }
  const isEdits = Permission.isEdit(request) && /^(e|edits)$/i.test(word) && !rest
  if (isEdits) return { reply: "always", scope: "session", edits: true }
  const reason = /^(r|reject|n|no)$/i.test(word) ? rest.trim() : line.trim()
  return { reply: "reject", ...(reason ? { message: reason } : {}) }
}
