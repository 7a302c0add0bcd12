// The entry file: opens the interactive terminal. The editor takes keys at once; the client, which may bring the whole
// engine with it, is loaded behind the first frame.
import { statSync } from "node:fs"
import type { TuiOptions } from "#edge/tui/conversation/options.ts"
import { createEditor, type Result } from "#edge/tui/editor/editor.ts"
import type { Key } from "#edge/tui/input/key.ts"
import { createKeyReader } from "#edge/tui/input/key-reader.ts"
import { createKeymap } from "#edge/tui/input/keymap.ts"
import { graphicsOfEnvironment, hasLinks, questions, readAnswer, reflows } from "#edge/tui/screen/detect.ts"
import { createScreen } from "#edge/tui/screen/screen.ts"
import { openTerminal } from "#edge/tui/screen/terminal.ts"
import { createTheme } from "#edge/tui/screen/theme.ts"
import { type Status, statusLine } from "#edge/tui/status/status-line.ts"
import type { App } from "./app.ts"
import { layOut } from "./layout.ts"
import { openHistory } from "./prompt-history.ts"

export type { Connection } from "#edge/tui/conversation/options.ts"

/** Milliseconds between the first frame and loading the rest. */
const headStart = 60
/** Until the first prompt was sent. */
const firstHint = "/help lists the commands, @ attaches a file, ! runs a shell command."

/** Resolves to the exit code when the person leaves. */
export async function openTui(options: TuiOptions): Promise<number> {
  if (options.isPlain) return (await import("#edge/tui/plain/plain.ts")).openPlain(options)
  const theme = createTheme(options.themeFile, () => screen.refresh())
  let app: App | undefined
  /** What the person did before the app was there. */
  const early: Result[] = []
  const keymap = createKeymap()
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>()
  let isLeaving = false
  let graphics = graphicsOfEnvironment()
  // Before the modes are changed. The first signal lets the work end well; without an app, and at the second signal, nothing is waited for.
  const stopListening = onEnd({
    leave(code) {
      if (app && !isLeaving) void app.leave(code)
      else stop(code)
      isLeaving = true
    },
    crash: giveBack,
  })
  const history = openHistory(options.historyFile)
  const reader = createKeyReader(takeKey, takeReply)
  const terminal = openTerminal({
    input: (bytes) => reader.add(bytes),
    resize: () => screen.draw(),
    resumed: () => screen.restart(),
  })
  const editor = createEditor({
    keymap,
    paint: (role, text) => theme.paint()(role, text),
    history,
    complete: async (kind, query, signal) => app?.complete(kind, query, signal) ?? [],
    isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
    onChange: () => screen.refresh(),
  })
  const screen = createScreen({
    terminal,
    paint: theme.paint,
    depth: theme.depth,
    expandKey: () => keymap.hintOf("app.expand"),
    reflows: reflows(),
    hasLinks: hasLinks(),
    graphics: () => graphics,
    finished: () => app?.finished() ?? [],
    tail: (view) =>
      layOut(
        {
          transcript: (rows) => app?.transcript(rows) ?? [],
          waiting: app?.waiting() ?? [],
          withdrawKey: keymap.hintOf("app.withdraw"),
          input: (rows) => app?.panel()?.view(view, rows) ?? editor.view(view.columns, rows),
          status: statusLine(app?.status() ?? starting(), view),
        },
        view,
      ),
  })
  screen.draw()
  terminal.write(questions())
  if (!options.text && !options.session && !options.isContinued)
    void history.isEmpty().then((isFirst) => isFirst && screen.printBlock([theme.paint()("dim", firstHint)]))
  try {
    // Loading the engine blocks for a moment: first let the person's first keys through.
    await new Promise((resolve) => setTimeout(resolve, headStart))
    const { createApp } = await import("./app.ts")
    if (isLeaving) return await stopped
    const created = createApp({ ...options, screen, editor, keymap, terminal, theme })
    app = created
    for (const result of early.splice(0)) created.take(result)
    return await Promise.race([created.ended, stopped])
  } finally {
    stopListening()
    giveBack()
  }

  function giveBack(): void {
    screen.end()
    reader.stop()
    terminal.close()
  }

  function starting(): Status {
    return { folder: options.folder, preset: "ask", activity: "starting" }
  }

  function takeKey(key: Key): void {
    const panel = app?.panel()
    if (key.name === "focus" || key.name === "blur") app?.setFocus(key.name === "focus")
    else if (panel) app?.panelKey(key)
    else {
      const result = editor.handle(key)
      if (app) app.take(result)
      else if (result.do === "send" || result.do === "action") early.push(result)
    }
    screen.draw()
  }

  function takeReply(text: string): void {
    const answer = readAnswer(text)
    if (answer === "key protocol") terminal.useKeyProtocol()
    else if (answer === "graphics") graphics = "kitty"
    else if (typeof answer === "object") theme.detect(answer.scheme)
  }
}

/** In raw mode Ctrl-C is a key; SIGINT comes from another process. After an error that nobody caught, Node prints it and
 * ends the process. */
function onEnd({ leave, crash }: { leave(exitCode: number): void; crash(): void }): () => void {
  const handlers = Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }).map(
    ([signal, code]) => [signal, () => leave(code)] as const,
  )
  for (const [signal, handler] of handlers) process.on(signal, handler)
  process.on("uncaughtExceptionMonitor", crash)
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler)
    process.off("uncaughtExceptionMonitor", crash)
  }
}
