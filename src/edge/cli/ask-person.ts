// Questions for permission in the terminal: what exactly would run, one question after the other, answered with a
// line. What was typed before a question was shown does not answer it.
import { createInterface } from "node:readline/promises"
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises"
import * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import * as Secret from "#kernel/secret.ts"

type Given = Permission.Details & { reply: Permission.Reply }

/** Typed ahead is what can be read before this many milliseconds have passed. */
const settling = 100

/** Ask whatever this process needs to know, the sessions of subtasks included, until the returned function is called. */
export function askPerson(): () => void {
  const stop = new AbortController()
  let last = Promise.resolve()
  const unsubscribe = Bus.subscribe(Permission.Requested, (request) => {
    last = last.then(() => askOne(request, stop.signal))
  })
  return () => {
    unsubscribe()
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
    const given = await question(asText(request), AbortSignal.any([over.signal, stop]))
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
  const lines = needs.map(({ permission, target }) => `  ${permission}  ${safe(target)}`)
  if (isProtected) lines.push("  It would change what runs on this machine.")
  if (preview) lines.push(...preview.split("\n").map((line) => `    ${safe(line)}`))
  const whose = agents.length > 1 ? ` (${agents.join(", working for ")})` : ""
  return `${safe(tool)} needs your permission${whose}:\n${lines.join("\n")}\n[o]nce${always}, [r]eject (or say why not): `
}

/** Undefined when nobody needs the answer any more. */
async function question(text: string, signal: AbortSignal): Promise<Given | undefined> {
  const { stdin, stderr } = process
  stdin.ref()
  try {
    await dropTyped()
    if (signal.aborted) return undefined
    const terminal = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 })
    // A line that ends here (Ctrl-D) says nothing, and nothing is no.
    const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")))
    terminal.on("SIGINT", () => interrupt())
    try {
      return readAnswer(await Promise.race([terminal.question(text, { signal }), ended]))
    } finally {
      terminal.close()
    }
  } catch (error) {
    if (!signal.aborted) throw error
    stderr.write("\n(no longer needed)\n")
    return undefined
  } finally {
    stdin.pause()
    stdin.unref()
  }
}

/** In raw mode everything that is there can be read, also a line without its end. */
async function dropTyped(): Promise<void> {
  const { stdin } = process
  const drop = (typed: Buffer) => {
    if (typed.includes(3)) interrupt()
  }
  stdin.setRawMode(true)
  stdin.on("data", drop)
  stdin.resume()
  await wait(settling)
  // On a busy machine the time may be up before anything was read at all.
  await turn()
  await turn()
  stdin.off("data", drop)
  stdin.pause()
  stdin.setRawMode(false)
}

/** As the key does when nobody reads keys. */
function interrupt(): void {
  process.kill(process.pid, "SIGINT")
}

function readAnswer(line: string): Given {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(line)!
  if (/^(o|once|y|yes)$/i.test(word) && !rest) return { reply: "once" }
  if (/^(a|always)$/i.test(word) && !rest) return { reply: "always" }
  if (/^(s|session)$/i.test(word) && !rest) return { reply: "always", scope: "session" }
  const reason = /^(r|reject|n|no)$/i.test(word) ? rest.trim() : line.trim()
  return { reply: "reject", ...(reason ? { message: reason } : {}) }
}
