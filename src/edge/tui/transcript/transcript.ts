// The conversation as lines: what is finished, to be printed once, and a tail that may still change. Everything that a
// model, a tool or a file wrote is escaped. It is loaded after the first frame.
import type { Message, Session, StreamEvent, TextMessage } from "#client/client.ts"
import { controlWords } from "#client/control-words.ts"
import { createInOrder } from "#client/in-order.ts"
import { createLanguages } from "#edge/tui/markdown/languages.ts"
import type { Line, Role, View } from "#edge/tui/screen/line.ts"
import { cutTo } from "#edge/tui/screen/width.ts"
import { createAnswers } from "./answers.ts"
import { type AttachedMessage, attachmentNote, type LoadImage, pictureOf } from "./attachment-note.ts"
import { createCalls } from "./calls.ts"
import { createControls } from "./controls.ts"
import { createEntries } from "./entries.ts"
import { noteOf, type Told } from "./event-notes.ts"
import type { Folded } from "./fold.ts"
import { createImage } from "./image-entry.ts"
import { firstShown, idle, type Working } from "./loaded-messages.ts"
import { createFinished, createNote } from "./note-entry.ts"
import { createPrompt, createShell } from "./person-entry.ts"
import { planLines, shortPlan, type Todo } from "./plan-lines.ts"

export type Transcript = Readonly<{
  /** An event of the session, or of one that does a task for it. */
  apply(event: StreamEvent): void
  /** Begins anew with the last messages of a session. `tasks`: the sessions that do tasks for it now. */
  load(messages: readonly Message[], now?: Working): void
  /** Events were missed: adds what is new among the last messages of the session. */
  catchUp(messages: readonly Message[], tasks: readonly Session[]): void
  /** The finished lines since the last call. */
  take(): Line[]
  /** What may still change, at most `rows` lines. */
  tail(rows: number): Line[]
  /** The last folded text in full; called again, the one before. */
  expand(): Line[]
}>

const quiet = { mark: "·", role: "dim" } as const
/** As many folded texts can be shown in full. */
const maxFolded = 20
const before = { mark: "…", role: "dim" } as const

/** `changed` is called if new lines appear without an event, because a language or an image was loaded. */
export function createTranscript(view: () => View, changed = () => {}, loadImage?: LoadImage): Transcript {
  const markdown = { languages: createLanguages(), changed }
  const entries = createEntries()
  const note = (text: string, look: { mark: string; role: Role }) => entries.add(createNote(text, look))
  const folded: Folded[] = []
  let expanded = 0
  let shown = startSession()

  function startSession() {
    const answers = createAnswers({
      view,
      markdown,
      add: entries.add,
      fold,
      note: (text) => note(text, { mark: "✗", role: "warning" }),
    })
    return {
      answers,
      calls: createCalls({ add: entries.add, fold }),
      order: createInOrder(),
      seen: new Set<string>(),
      attached: new Map<string, string>(),
      controls: createControls(),
      /** Whether the prompt of the turn is shown. Notes about it that come earlier wait. */
      isPrompted: false,
      early: [] as Told[],
      plan: undefined as readonly Todo[] | undefined,
    }
  }

  function fold(one: Folded): void {
    folded.push(one)
    if (folded.length > maxFolded) folded.shift()
    expanded = 0
  }

  function apply(event: StreamEvent): void {
    const { answers, calls, order } = shown
    switch (event.type) {
      case "message.delta": {
        const { sessionId, parentId, ...delta } = event.payload
        const show = () => answers.addDelta({ ...delta, time: event.time })
        if (!calls.isTask(sessionId)) order.add({ parentId, show })
        break
      }
      case "message.created":
      case "message.updated":
        addMessage(event.payload.message)
        break
      case "tool.started":
      case "tool.progress":
      case "session.created":
      case "session.updated":
        calls.apply(event)
        break
      case "todo.updated":
        if (!calls.isTask(event.payload.sessionId)) shown.plan = event.payload.todos
        break
      case "session.idle":
      case "session.error":
        if (calls.endTask(event.payload.sessionId)) return
        endTurn()
        break
      case "gap":
      case "disconnected":
        answers.lose()
    }
    const told = noteOf(event)
    if (!told || calls.tell(event, told.text)) return
    if (told.isOfPrompt && !shown.isPrompted) shown.early.push(told)
    else note(told.text, told)
  }

  function tellEarly(): void {
    for (const told of shown.early.splice(0)) note(told.text, told)
  }

  /** What is still open is finished as it is. */
  function endTurn(): void {
    shown.order.flush()
    tellEarly()
    shown.isPrompted = false
    shown.answers.end()
    shown.calls.endAll()
    const { plan } = shown
    if (plan?.length) entries.add(createFinished("plan", (given) => ({ lines: planLines(plan, given) })))
    shown.plan = undefined
  }

  function addMessage(message: Message, isLoaded = false): void {
    const { order, calls, seen } = shown
    const { id, parentId, sessionId } = message
    if (calls.isTask(sessionId)) {
      if (message.type === "tool_request" && !seen.has(id))
        for (const call of message.data.calls) calls.addTaskCall(sessionId, call)
      seen.add(id)
      return
    }
    // The line of a call changes at once; its place is that of the call.
    const isFinished = message.type === "tool_result" && calls.finish(sessionId, message.data)
    if (seen.has(id)) return void changeMessage(message)
    seen.add(id)
    const isPrompt = message.type === "text" && message.data.role === "user"
    const isFirst = isLoaded || isPrompt || parentId === null
    const show = () => {
      if (!isFinished) showMessage(message)
      shown.controls.add(id)
    }
    order.add({ id, parentId, isFirst, show })
  }

  function showMessage(message: Message): void {
    const { answers, calls } = shown
    const isAnswer = message.type === "text" && message.data.role === "assistant"
    if (!isAnswer) answers.end()
    switch (message.type) {
      case "text":
        if (isAnswer) answers.show(message)
        else if (message.data.origin?.kind === "shell") {
          calls.endShell()
          entries.add(createShell(message, fold))
        } else if (message.data.role === "user") showPrompt(message)
        break
      case "tool_request":
        for (const call of message.data.calls) calls.begin(message.sessionId, call)
        break
      case "tool_result":
        if (!calls.finish(message.sessionId, message.data)) calls.addResult(message.data)
        break
      case "system_control":
        note(shown.controls.wordsOf(message) ?? controlWords(message.data), quiet)
        break
      case "unknown":
        note("a message of an unknown type", quiet)
        break
      default:
        showAttachment(message)
    }
  }

  function changeMessage(message: Message): void {
    if (message.type === "text" && message.data.role === "assistant")
      shown.order.add({ parentId: message.parentId, show: () => shown.answers.show(message) })
    else if (message.type === "file_reference" || message.type === "image" || message.type === "mcp_resource")
      showAttachment(message)
  }

  function showPrompt({ id, data }: TextMessage): void {
    const text = data.parts.map((part) => part.text).join("\n")
    shown.controls.addPrompt(id, text)
    if (text.trim() === "") return
    entries.add(createPrompt(text, fold))
    shown.isPrompted = true
    tellEarly()
  }

  /** Shown when it is resolved, and again if that changes. */
  function showAttachment(message: AttachedMessage): void {
    const told = attachmentNote(message)
    if (!told || shown.attached.get(message.id) === told.text) return
    shown.attached.set(message.id, told.text)
    const picture = view().graphics && loadImage && pictureOf(message, loadImage)
    if (picture) entries.add(createImage(told, picture, changed))
    else note(told.text, told)
  }

  function load(messages: readonly Message[], { isWorking, tasks, plan }: Working = idle): void {
    endTurn()
    shown = startSession()
    const { from, leftOut } = firstShown(messages)
    for (const { id } of messages.slice(0, from)) shown.seen.add(id)
    if (leftOut) note(leftOut, before)
    for (const message of messages.slice(from)) addMessage(message, true)
    shown.isPrompted = isWorking
    for (const task of tasks) shown.calls.beginTask(task)
    if (plan.some(({ status }) => status !== "done")) shown.plan = plan
    // An answer that runs may have begun before.
    if (isWorking) shown.answers.lose()
    else endTurn()
  }

  function catchUp(messages: readonly Message[], tasks: readonly Session[]): void {
    const [first] = messages
    if (first?.parentId && !shown.seen.has(first.id) && !shown.seen.has(first.parentId))
      note("earlier messages were missed; /export writes all", before)
    for (const message of messages) addMessage(message, true)
    for (const task of tasks) if (!shown.calls.isTask(task.id)) shown.calls.beginTask(task)
  }

  function tail(rows: number): Line[] {
    if (rows <= 0) return []
    const now = view()
    const plan = shown.plan?.length ? shortPlan(shown.plan, now, Math.max(1, Math.floor(rows / 3))) : []
    const lines = entries.tail(now, rows)
    const gap = plan.length && lines.length ? [""] : []
    return [...lines, ...gap, ...plan].slice(-rows)
  }

  function expand(): Line[] {
    const one = folded.at(-1 - expanded)
    if (!one) return []
    expanded++
    return [view().paint("strong", cutTo(one.title, view().columns)), ...one.lines(view())]
  }

  return Object.freeze({ apply, load, catchUp, take: () => entries.take(view()), tail, expand })
}
