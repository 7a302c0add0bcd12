// The terminal for screen readers, and for terminals that cannot move the cursor: each finished line is printed once,
// nothing is drawn again, questions are numbered lines, and the system's own line editor takes the input.
import type { StreamEvent } from "#client/client.ts"
import type { Context } from "#edge/tui/command/context.ts"
import { beginAsGiven } from "#edge/tui/conversation/begin-as-given.ts"
import { createConversation } from "#edge/tui/conversation/conversation.ts"
import { endLostTurn } from "#edge/tui/conversation/end-lost-turn.ts"
import { farewell } from "#edge/tui/conversation/farewell.ts"
import { createGreeting } from "#edge/tui/conversation/greeting.ts"
import type { Connection, TuiOptions } from "#edge/tui/conversation/options.ts"
import { createSessionReader } from "#edge/tui/conversation/session-reader.ts"
import type { Question } from "#edge/tui/question/questions.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { createTheme } from "#edge/tui/screen/theme.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"
import { createTranscript } from "#edge/tui/transcript/transcript.ts"
import { finishSoon } from "#util/wait.ts"
import { createAskedQueue } from "./asked.ts"
import { createLineInput } from "./line-input.ts"
import { createPlainAsk } from "./plain-ask.ts"
import { createPlainQuestions } from "./plain-questions.ts"

const prompt = "> "

/** Resolves to the exit code when the person leaves. */
export async function openPlain(options: TuiOptions): Promise<number> {
  try {
    // Nothing listens yet: until then a signal ends the program as usual, and a line waits in the terminal.
    return await run(options, await options.connect())
  } catch (error) {
    process.stdout.write(`${safe(errorText(error))}\n`)
    return 1
  }
}

async function run(options: TuiOptions, connection: Connection): Promise<number> {
  const { client } = connection
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const leaving = new AbortController()
  const transcript = createTranscript(view, flush)
  let isPrompted = false
  let isLost = false
  /** Starting, and each line until it is dealt with. */
  let works = 0
  const talk = createConversation({
    isSandboxed: options.isSandboxed,
    client,
    settings: options.settings,
    agent: options.agent,
    model: options.model,
    preset: options.mode === "plan" ? "plan" : options.isSandboxed ? "sandboxed" : "ask",
    changed: () => {},
    returned: ({ text }) => print([`Not sent: ${safeLine(text)}`]),
  })
  const input = createLineInput({ line: (text) => void work(() => take(text)), end: () => end(0) })
  const questions = createAskedQueue({ done: showPrompt, report })
  const asked = createPlainQuestions({ client, questions, say, print, view, setHidden: input.setHidden })
  const showQuestions = (open: readonly Question[]) => {
    flush()
    asked.showOpen(open)
  }
  const reader = createSessionReader({ client, talk, transcript, showQuestions, apply, report })
  const ask = createPlainAsk({ questions, say, setHidden: input.setHidden })
  const greeting = createGreeting({
    client,
    ask,
    say,
    print,
    view,
    talk,
    diff: diffLines,
    editor: { text: "" },
  })
  const context: Omit<Context, "edit"> = {
    ...{ client, talk, ask, say, view, folder: options.folder, command: options.command },
    signIn: greeting.signIn,
    reviewTrust: greeting.reviewTrust,
    theme: createTheme(options.themeFile, () => {}),
    print: (lines) => print(withoutBars(lines)),
    show,
    leave: () => show(undefined),
    quit: async () => end(0),
  }
  const stopListening = onSignals((code) => {
    const isStop = code === 130
    // The terminal has written ^C.
    if (isStop) process.stdout.write("\n")
    isPrompted &&= !isStop
    if (isStop && questions.close()) return
    if (isStop && talk.busySince) void talk.stop().catch(report)
    else end(code)
  })
  try {
    void follow().catch(fail)
    void work(() => start().catch(fail))
    return await ended
  } finally {
    leaving.abort()
    // A second signal ends the program at once.
    stopListening()
    input.close()
    const { server } = connection
    const words = await farewell({ ...options, client, talk, server, isLost })
    flush()
    print(words)
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

  function say(text: string): void {
    const rows = safe(text).split("\n")
    print(rows.flatMap((row) => wrapTo(row, view().columns)))
  }

  /** The agent waits for a prompt. */
  function showPrompt(): void {
    if (works > 0 || isPrompted || talk.busySince !== undefined) return
    if (questions.isAsking() || leaving.signal.aborted) return
    flush()
    process.stdout.write(prompt)
    isPrompted = true
  }

  function flush(): void {
    print(transcript.take())
  }

  async function work(task: () => Promise<void>): Promise<void> {
    works++
    await task().catch(report)
    works--
    showPrompt()
  }

  async function take(line: string): Promise<void> {
    isPrompted = false
    if (await questions.answer(line)) return
    const text = line.trim()
    if (text.startsWith("!")) await talk.runShell(text.slice(1).trim())
    else if (text && !(await runCommand(text))) await talk.send(text)
  }

  async function runCommand(text: string): Promise<boolean> {
    if (!text.startsWith("/")) return false
    const { runCommand } = await import("#edge/tui/command/run-command.ts")
    const edit = (next: string) => next !== text && say(`Begin your prompt with: ${next}`)
    return runCommand({ ...context, edit }, text)
  }

  async function start(): Promise<void> {
    await greeting.findModel(options).catch(report)
    await beginAsGiven({ client, talk, options, show })
    await greeting.begin(options).catch(report)
  }

  /** Without an id: the next prompt begins a new session. */
  async function show(id: string | undefined): Promise<void> {
    await reader.open(id)
    flush()
  }

  async function follow(): Promise<void> {
    for await (const event of client.events({ signal: leaving.signal })) reader.take(event)
  }

  function apply(event: StreamEvent): void {
    if (event.type === "disconnected" && !isLost) print(["The server is gone. Connecting again."])
    if (event.type === "connected" && isLost) {
      print(["Connected again."])
      void endLostTurn({ client, talk, apply }).catch(report)
    }
    if (event.type === "disconnected" || event.type === "connected") isLost = event.type === "disconnected"
    const isOurs = talk.apply(event)
    if (isOurs) transcript.apply(event)
    flush()
    asked.apply(event, isOurs)
    showPrompt()
  }

  function report(error: unknown): void {
    say(errorText(error))
    showPrompt()
  }

  function fail(error: unknown): void {
    if (leaving.signal.aborted) return
    report(error)
    end(1)
  }
}

/** A screen reader would read each block of a bar. */
function withoutBars(lines: readonly Line[]): Line[] {
  return lines.flatMap((line) => {
    const text = line.replace(/^[\u2580-\u259f#·]+ ?/, "")
    return text || !line ? [text] : []
  })
}

function errorText(error: unknown): string {
  return `Error: ${error instanceof Error ? error.message : String(error)}`
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
