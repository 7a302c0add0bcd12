// Questions in the terminal, one after the other: for permission, with what exactly would run, and those of MCP servers.
import type * as Elicitation from "#ability/mcp/elicitation.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import * as Secret from "#kernel/secret.ts"
import { converse } from "./converse.ts"

type Given = Permission.Details & { reply: Permission.Reply }

/** Ask whatever this process needs to know, the sessions of subtasks included, until the returned function is called. */
export function askPerson(): () => void {
  const stop = new AbortController()
  let last = Promise.resolve()
  const unsubscribe = Bus.subscribe(Permission.Requested, (request) => {
    last = last.then(() => askOne(request, stop.signal))
  })
  // By its name: without MCP servers nothing that knows of their questions is loaded.
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
  const over = new AbortController()
  const unsubscribe = Bus.subscribe(Permission.Replied, ({ id }) => {
    if (id === request.id) over.abort()
  })
  try {
    const given = await converse(AbortSignal.any([over.signal, stop]), async (ask) =>
      // A line that ends here (Ctrl-D) says nothing, and nothing is no.
      readAnswer((await ask(asText(request))) ?? ""),
    )
    const { reply, ...details } = given ?? {}
    if (!reply || !isOpen()) return
    const { notice } = await Permission.reply(request.id, reply, details)
    if (notice) process.stderr.write(`${notice}\n`)
  } catch (error) {
    Log.warn("an answer could not be kept", { error })
  } finally {
    unsubscribe()
  }
}

/** What is to be decided, with nothing in it that could drive the terminal. */
function asText(request: Permission.Request): string {
  const { tool, needs, title, agents = [], protected: isProtected, preview } = request
  const safe = (text: string) => Secret.redact(Log.escapeControls(text))
  if (!needs.length) return `${safe(title)}\n[o]nce, [r]eject: `
  const rules = needs.flatMap((need) => need.rules.map(Permission.formatRule))
  const always = Permission.canBeAlways(request)
    ? `, [a]lways (${rules.map(safe).join(", ")}), in this [s]ession`
    : ""
  const lines = needs.map(
    ({ permission, target, changed }) =>
      `  ${permission}  ${safe(target)}${changed ? `  (${Permission.sayChanged})` : ""}`,
  )
  if (isProtected) lines.push(`  ${Permission.whyProtected(needs)}.`)
  if (preview) lines.push(...preview.split("\n").map((line) => `    ${safe(line)}`))
  const whose = agents.length > 1 ? ` (${agents.join(", working for ")})` : ""
  return `${safe(tool)} needs your permission${whose}:\n${lines.join("\n")}\n[o]nce${always}, [r]eject (or say why not): `
}

function readAnswer(line: string): Given {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(line)!
  if (/^(o|once|y|yes)$/i.test(word) && !rest) return { reply: "once" }
  if (/^(a|always)$/i.test(word) && !rest) return { reply: "always" }
  if (/^(s|session)$/i.test(word) && !rest) return { reply: "always", scope: "session" }
  const reason = /^(r|reject|n|no)$/i.test(word) ? rest.trim() : line.trim()
  return { reply: "reject", ...(reason ? { message: reason } : {}) }
}
