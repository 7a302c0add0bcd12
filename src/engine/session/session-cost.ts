// What a session has cost: in all, by model and agent, and prompt by prompt. Sessions that did a task for it are included.
import * as SessionRecord from "#engine/record/session-record.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

const { Totals } = SessionRecord

type Timed = SessionRecord.Totals & { duration: number }
type Row = Timed & { model: string; agent: string; answers: number }
type Prompt = Timed & { messageId: string; time: number }
/** `total` includes summaries and other requests that are no answers. `rows`: answers by model and agent, the most expensive
 * first. `prompts`: the answers to each prompt of the session itself, the oldest first. `duration`: milliseconds of the answers,
 * for a prompt also of its calls. */
export type SessionCost = { total: SessionRecord.Totals; rows: Row[]; prompts: Prompt[] }

export async function sessionCost(sessionId: string): Promise<SessionCost> {
  const session = await SessionRecord.get(sessionId)
  const all = await SessionRecord.list({ tasks: true })
  const mine = [session, ...tasksOf(session.id, all)]
  // What tasks used was added to it when they ended.
  const total = { ...session.usage }
  const rows = new Map<string, Row>()
  let prompts: Prompt[] = []
  for (const { id } of mine) {
    const messages = await MessageStore.list(id)
    for (const message of messages) addTo(rows, message)
    if (id === session.id) prompts = byPrompt(messages)
  }
  const ordered = [...rows.values()].sort((a, b) => b.cost - a.cost || b.input - a.input)
  return { total, rows: ordered, prompts }
}

/** Tasks may give tasks. */
function tasksOf(sessionId: string, all: SessionRecord.Info[]): SessionRecord.Info[] {
  const below = all.filter(({ taskOf }) => taskOf?.sessionId === sessionId)
  return below.flatMap((task) => [task, ...tasksOf(task.id, all)])
}

function addTo(rows: Map<string, Row>, message: Message.Info): void {
  const { usage, model = "", agent = "" } = message
  if (!usage) return
  const key = `${model} ${agent}`
  const row = rows.get(key) ?? { ...Totals.parse({}), duration: 0, model, agent, answers: 0 }
  rows.set(key, row)
  addNumbers(row, usage)
  row.answers++
}

function byPrompt(messages: Message.Info[]): Prompt[] {
  const prompts: Prompt[] = []
  for (const message of messages) {
    if (message.type === "text" && message.data.role === "user")
      prompts.push({ ...Totals.parse({}), duration: 0, messageId: message.id, time: message.time })
    const last = prompts.at(-1)
    if (last && message.usage) addNumbers(last, message.usage)
    if (last && message.type === "tool_result") last.duration += message.data.duration
  }
  return prompts.filter(({ input, output }) => input + output > 0)
}

function addNumbers(row: Timed, usage: Message.Usage): void {
  row.duration += usage.duration ?? 0
  for (const name of Object.keys(Totals.shape) as (keyof SessionRecord.Totals)[])
    row[name] += usage[name] ?? 0
}
