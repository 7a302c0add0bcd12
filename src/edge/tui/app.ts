// The interactive terminal at work: events go to the conversation, the transcript and the questions; what the editor was
// told to do is done here.
import type { Client, StreamEvent } from "#client/client.ts"
import { beginAsGiven } from "#edge/tui/conversation/begin-as-given.ts"
import { type Conversation, createConversation } from "#edge/tui/conversation/conversation.ts"
import { endLostTurn } from "#edge/tui/conversation/end-lost-turn.ts"
import { farewell } from "#edge/tui/conversation/farewell.ts"
import { createGreeting } from "#edge/tui/conversation/greeting.ts"
import type { Connection, TuiOptions } from "#edge/tui/conversation/options.ts"
import { editableOf, imageParts } from "#edge/tui/conversation/prompt-parts.ts"
import type { Sent } from "#edge/tui/conversation/prompt-settings.ts"
import { createSessionReader } from "#edge/tui/conversation/session-reader.ts"
import type { Choice, Kind } from "#edge/tui/editor/completion.ts"
import type { createEditor, Result } from "#edge/tui/editor/editor.ts"
import type { Prompt } from "#edge/tui/editor/prompt.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Keymap } from "#edge/tui/input/keymap.ts"
import { createAsk } from "#edge/tui/question/ask.ts"
import { createPanels } from "#edge/tui/question/panel.ts"
import { createQuestions, type Question } from "#edge/tui/question/questions.ts"
import type { Screen } from "#edge/tui/screen/screen.ts"
import type { Terminal } from "#edge/tui/screen/terminal.ts"
import type { createTheme } from "#edge/tui/screen/theme.ts"
import { createActivity, quitHint, workingFor } from "#edge/tui/status/activity.ts"
import { createManners } from "#edge/tui/status/manners.ts"
import type { Status } from "#edge/tui/status/status-line.ts"
import { createUsage } from "#edge/tui/status/usage.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"
import { noticeLines } from "#edge/tui/transcript/note-entry.ts"
import { createTranscript } from "#edge/tui/transcript/transcript.ts"
import { finishSoon } from "#util/wait.ts"
import { type CommandLine, createCommandLine } from "./command-line.ts"
import { editOutside } from "./external-editor.ts"

export type App = ReturnType<typeof createApp>

type AppOptions = TuiOptions & {
  screen: Screen
  editor: ReturnType<typeof createEditor>
  keymap: Keymap
  terminal: Terminal
  theme: ReturnType<typeof createTheme>
}

export function createApp(options: AppOptions) {
  const { screen, editor, terminal } = options
  const { promise: ended, resolve: end } = Promise.withResolvers<number>()
  const leaving = new AbortController()
  const transcript = createTranscript(screen.view, screen.refresh, async (image) =>
    connection?.client.getImage(image),
  )
  let typedAt = 0
  const panels = createPanels(
    () => screen.refresh(),
    () => typedAt,
  )
  let connection: Connection | undefined
  let conversation: Conversation | undefined
  let usage: ReturnType<typeof createUsage> | undefined
  let questions: ReturnType<typeof createQuestions> | undefined
  let commands: CommandLine | undefined
  const activity = createActivity(() => screen.refresh())
  const manners = createManners({ ...options, tick: activity.tick, typedAt: () => typedAt })
  let isStarting = true
  let isLost = false

  const ready = start()
  ready.catch((error) => fail(error))

  async function start(): Promise<Conversation> {
    connection = await options.connect()
    const { client } = connection
    conversation = createConversation({
      ...options,
      client,
      preset: options.mode === "plan" ? "plan" : options.isSandboxed ? "sandboxed" : "ask",
      changed,
      returned: giveBack,
    })
    const shared = { ...screen, ...panels, client, diff: diffLines, changed }
    const talk = conversation
    questions = createQuestions({ ...manners, ...shared, report, acceptedEdits: talk.acceptedEdits })
    usage = createUsage(client, () => screen.refresh())
    await manners.readSettings(client).catch(report)
    isStarting = false
    const reader = createSessionReader({ client, talk, transcript, showQuestions, apply, report })
    void follow(client, reader.take).catch((error) => fail(error))
    const given = { ...shared, talk, ask: createAsk(shared) }
    const greeting = createGreeting({ ...given, editor, say: (text) => print(text, "dim") })
    const show = async (id: string | undefined) => {
      await reader.open(id)
      screen.refresh()
      usage?.refresh(id)
    }
    commands = createCommandLine({ ...options, ...given, ...greeting, show, say: activity.say, leave })
    await greeting.findModel(options).catch(report)
    await beginAsGiven({ client, talk, options, show })
    void greeting.begin(options).catch(report)
    usage.refresh(talk.session?.id)
    changed()
    return talk
  }

  async function follow(client: Client, take: (event: StreamEvent) => void): Promise<void> {
    for await (const event of client.events({ signal: leaving.signal })) take(event)
  }

  function showQuestions(open: readonly Question[]): void {
    screen.refresh()
    questions?.show(open)
  }

  function apply(event: StreamEvent): void {
    if (event.type === "connected" && isLost && connection && conversation)
      void endLostTurn({ client: connection.client, talk: conversation, apply }).catch(report)
    if (event.type === "disconnected" || event.type === "connected") isLost = event.type === "disconnected"
    if (event.type === "config.changed" && connection)
      void manners.readSettings(connection.client).catch(report)
    const isOurs = conversation?.apply(event) === true
    questions?.apply(event, isOurs)
    if (!isOurs) return
    transcript.apply(event)
    if (event.type === "session.idle") usage?.refresh(conversation?.session?.id)
    screen.refresh()
  }

  function changed(): void {
    if (conversation) manners.follow(conversation, isAsking())
    screen.refresh()
  }

  function isAsking(): boolean {
    return questions !== undefined && questions.count() > 0
  }

  function status(): Status {
    const { session, agent, model, busySince } = conversation ?? {}
    const working = isAsking()
      ? "waits for you"
      : workingFor(busySince, manners.picture(), options.keymap.hintOf("app.stop"))
    return {
      folder: options.folder,
      branch: usage?.branch,
      context: usage?.context,
      agent: session?.agent ?? agent,
      model: session?.model ?? session?.fallbackModel ?? model,
      preset: conversation?.presetLabel() ?? "ask",
      cost: session?.usage.cost,
      activity: isLost ? "the server is gone, reconnecting" : isStarting ? "starting" : working,
      hint: activity.hint,
    }
  }

  /** A notice between the messages. */
  function print(text: string, role?: "error" | "dim"): void {
    screen.printBlock(noticeLines(text, screen.view(), role))
  }

  function report(error: unknown): void {
    print(`✗ ${error instanceof Error ? error.message : String(error)}`, "error")
  }

  function fail(error: unknown): void {
    if (leaving.signal.aborted) return
    report(error)
    void leave(1)
  }

  function take(result: Result): void {
    // A person who has just begun a turn or a command expects a question: its keys count at once.
    const isBegin = result.do === "send" && !result.prompt.isShell && conversation?.busySince === undefined
    typedAt = isBegin ? 0 : Date.now()
    if (result.do === "send") void send(result.prompt).catch(report)
    if (result.do === "action") void act(result.action).catch(report)
  }

  function giveBack(sent: Sent | undefined): void {
    if (!sent) return void activity.say("no prompt waits")
    const { text, images } = editableOf(sent)
    editor.add(text, images)
  }

  async function send({ text, attachments, isShell }: Prompt): Promise<void> {
    const talk = await ready
    if (isShell) return talk.runShell(text)
    if (text.startsWith("/") && (await commands?.run(text))) return
    activity.hush()
    await talk.send(text, imageParts(attachments.map(({ path }) => path)))
  }

  async function act(action: string): Promise<void> {
    if (action === "app.stop") await conversation?.stop()
    if (action === "app.back") await commands?.goBack()
    if (action === "app.withdraw") giveBack(await conversation?.withdraw())
    if (action === "app.cycleMode") await (await ready).cycle()
    if (action === "app.quit") await leave(0)
    if (action === "app.clear") activity.say(quitHint(options.keymap))
    if (action === "app.expand") expand()
    if (action === "app.suspend") suspend()
    if (action === "app.redraw") screen.redraw()
    if (action === "app.externalEditor") await writeOutside()
  }

  function expand(): void {
    const lines = transcript.expand()
    if (lines.length) screen.printBlock(lines)
    else activity.say("nothing else is folded")
  }

  function suspend(): void {
    screen.pause()
    terminal.suspend()
  }

  async function writeOutside(): Promise<void> {
    screen.pause()
    const text = await terminal.lend(() => editOutside(editor.text))
    if (text === undefined) activity.say("the editor failed; set EDITOR to another one")
    else editor.set(text)
  }

  async function leave(code: number): Promise<void> {
    if (leaving.signal.aborted) return end(code)
    leaving.abort()
    activity.stop()
    const { server, client } = connection ?? {}
    const talk = conversation
    const words = talk && client ? await farewell({ ...options, client, talk, server, isLost }) : []
    if (words.length) print(words.join("\n"), "dim")
    await finishSoon(connection?.close())
    end(code)
  }

  return Object.freeze({
    ended,
    finished: transcript.take,
    transcript: transcript.tail,
    waiting: () => conversation?.waiting.map(({ text }) => text) ?? [],
    panel: panels.current,
    panelKey(key: Key): void {
      typedAt = Date.now()
      panels.current()?.handle(key)
    },
    status,
    take,
    leave,
    complete: async (kind: Kind, query: string, signal: AbortSignal): Promise<readonly Choice[]> =>
      (await commands?.complete(kind, query, signal)) ?? [],
    setFocus: manners.setFocus,
  })
}
