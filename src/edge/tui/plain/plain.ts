// The terminal for screen readers, and for terminals that cannot move the cursor: each finished line is printed once,
// nothing is drawn again, questions are numbered lines, and the system's own line editor takes the input.
import { createInterface } from "node:readline"
import type { Client, StreamEvent } from "#client/client.ts"
import { createConversation } from "#edge/tui/conversation/conversation.ts"
import { endLostTurn } from "#edge/tui/conversation/end-lost-turn.ts"
import { applyGiven, findSession } from "#edge/tui/conversation/find-session.ts"
import type { TuiOptions } from "#edge/tui/conversation/options.ts"
import { useRemembered } from "#edge/tui/question/sign-in.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import { createTranscript } from "#edge/tui/transcript/transcript.ts"
import { finishSoon } from "#util/wait.ts"
import { createPlainQuestions } from "./plain-questions.ts"

const prompt = "> "

/** Resolves to the exit code when the person leaves. */
export async function openPlain(options: TuiOptions): Promise<number> {
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const leaving = new AbortController()
  const transcript = createTranscript(view, flush)
  let isPrompted = false
  let isStarting = true
  let isLost = false
  // Nothing listens yet: until then a signal ends the program as usual, and a line waits in the terminal.
  const connection = await options.connect()
  const { client } = connection
  const talk = createConversation({
    client,
    settings: options.settings,
    agent: options.agent,
    model: options.model,
    preset: options.mode === "plan" ? "plan" : "ask",
    changed: () => {},
    returned: (text) => print([`Not sent: ${safeLine(text)}`]),
  })
  const questions = createPlainQuestions({ client, print, view, done: showPrompt })
  const input = createInterface({ input: process.stdin, terminal: false })
  input.on("line", (line) => void take(line).catch(report))
  input.on("close", () => end(0))
  const stopListening = onSignals((code) =>
    code === 130 && talk.busySince ? void talk.stop().catch(report) : end(code),
  )
  try {
    void follow().catch(fail)
    await resume().catch(fail)
    isStarting = false
    showPrompt()
    return await ended
  } finally {
    leaving.abort()
    // A second signal ends the program at once.
    stopListening()
    input.close()
    await finishSoon(talk.stop())
    flush()
    if (talk.session)
      print([`Go on with: ${options.command} --plain --session ${talk.session.id.slice(0, 13)}`])
    await finishSoon(connection.close())
  }

  function view(): View {
    const { columns = 80, rows = 24 } = process.stdout
    return { columns: Math.max(20, columns - 1), rows, paint: (_, text) => text }
  }

  function print(lines: readonly Line[]): void {
    if (!lines.length) return
    process.stdout.write(`${isPrompted ? "\n" : ""}${lines.join("\n")}\n`)
    isPrompted = false
  }

  /** The agent waits for a prompt. */
  function showPrompt(): void {
    if (isStarting || isPrompted || talk.busySince !== undefined) return
    if (questions.isAsking() || leaving.signal.aborted) return
    flush()
    process.stdout.write(prompt)
    isPrompted = true
  }

  function flush(): void {
    print(transcript.take())
  }

  async function take(line: string): Promise<void> {
    isPrompted = false
    const text = line.trim()
    if (await questions.answer(text)) return
    if (text === "/quit" || text === "/exit") return end(0)
    if (text.startsWith("!")) await talk.runShell(text.slice(1).trim())
    else if (await isOtherCommand(text))
      print([`Plain mode has /quit and /exit. The other commands need the full terminal.`])
    else if (text) await talk.send(text)
    showPrompt()
  }

  async function resume(): Promise<void> {
    const { session, isContinued, text } = options
    if (session !== undefined || isContinued) {
      const { id } = await findSession(client, session)
      talk.use(await client.getSession({ id }))
      transcript.load(await client.listMessages({ id }))
      flush()
      await loadQuestions(client, id)
      await applyGiven(client, talk, options)
    } else if (!options.model)
      await useRemembered({ client, useModel: (model) => talk.choose({ model }) }).catch(report)
    const parts = await options.parts()
    if (text || parts.length) await talk.send(text, parts)
  }

  async function loadQuestions(client: Client, id: string): Promise<void> {
    for (const request of await client.listPermissions())
      if (request.sessionId === id) questions.add({ kind: "permission", request })
  }

  async function follow(): Promise<void> {
    for await (const event of client.events({ signal: leaving.signal })) apply(event)
  }

  function apply(event: StreamEvent): void {
    if (event.type === "disconnected") print(["The server is gone. Connecting again."])
    if (event.type === "connected" && isLost) {
      print(["Connected again."])
      void endLostTurn({ client, talk, apply }).catch(report)
    }
    if (event.type === "disconnected" || event.type === "connected") isLost = event.type === "disconnected"
    const isOurs = talk.apply(event)
    if (isOurs) transcript.apply(event)
    flush()
    questions.apply(event, isOurs)
    showPrompt()
  }

  function report(error: unknown): void {
    const text = `Error: ${error instanceof Error ? error.message : String(error)}`
    print(wrapTo(safe(text), view().columns))
    showPrompt()
  }

  function fail(error: unknown): void {
    if (leaving.signal.aborted) return
    report(error)
    end(1)
  }
}

async function isOtherCommand(text: string): Promise<boolean> {
  if (!text.startsWith("/")) return false
  return (await import("#edge/tui/command/run-command.ts")).isCommand(text)
}

/** Ctrl-C stops the turn; without one it ends the program. */
function onSignals(leave: (exitCode: number) => void): () => void {
  const handlers = Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }).map(
    ([signal, code]) => [signal, () => leave(code)] as const,
  )
  for (const [signal, handler] of handlers) process.on(signal, handler)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}
