// An editor as the protocol describes it: it assembles the updates and checks the protocol's rules.
import assert from "node:assert/strict"
import { isAbsolute } from "node:path"
import type {
  ContentBlock,
  ContentChunk,
  SessionUpdate,
  ToolCall,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk"
import { assertIs } from "./schema.ts"

export type Said = { who: "user" | "agent" | "thought"; id: string; text: string; content: ContentBlock[] }
export type Called = ToolCall & { statuses: string[] }
export type Entry = Said | Called
type Update<T extends SessionUpdate["sessionUpdate"]> = Extract<SessionUpdate, { sessionUpdate: T }>

const whose = {
  user_message_chunk: "user",
  agent_message_chunk: "agent",
  agent_thought_chunk: "thought",
} as const
/** The largest update that is allowed. */
const largest = 300_000

export type Editor = ReturnType<typeof createEditor>

/** Invalid updates throw when the editor is read, not when they are sent: `send` must never throw. */
export function createEditor() {
  const updates: SessionUpdate[] = []

  return {
    updates,
    send: (update: SessionUpdate) => void updates.push(structuredClone(update)),
    of: <T extends SessionUpdate["sessionUpdate"]>(type: T) =>
      updates.filter((one): one is Update<T> => one.sessionUpdate === type),
    /** The entries on the screen, from top to bottom. */
    shown: () => show(updates),
    calls: () => show(updates).filter((entry): entry is Called => "toolCallId" in entry),
    texts: (who: Said["who"]) =>
      show(updates).flatMap((entry) => ("who" in entry && entry.who === who ? [entry.text] : [])),
  }
}

/** The text of a call's content. */
export function textIn({ content = [] }: Pick<ToolCallUpdate, "content">): string {
  return (content ?? [])
    .flatMap((item) => (item.type === "content" && item.content.type === "text" ? [item.content.text] : []))
    .join("\n")
}

function show(updates: SessionUpdate[]): Entry[] {
  const entries: Entry[] = []
  const calls = new Map<string, Called>()
  for (const update of updates) {
    assertIs("SessionUpdate", update)
    assert.ok(JSON.stringify(update).length < largest, `an update of ${update.sessionUpdate} is too large`)
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        addText(entries, whose[update.sessionUpdate], update)
        break
      case "tool_call": {
        const { sessionUpdate: _, ...call } = update
        assert.ok(!calls.has(call.toolCallId), `${call.toolCallId} is announced twice`)
        const called = { ...call, statuses: [call.status ?? "pending"] }
        calls.set(call.toolCallId, called)
        entries.push(called)
        check(called)
        break
      }
      case "tool_call_update": {
        const { sessionUpdate: _, ...change } = update
        const called = calls.get(change.toolCallId)
        assert.ok(called, `${change.toolCallId} is not known`)
        const isOver = /completed|failed/.test(called.statuses.at(-1)!)
        assert.ok(!isOver || !change.status, `${change.toolCallId} goes on after its end`)
        if (change.status && change.status !== called.statuses.at(-1)) called.statuses.push(change.status)
        Object.assign(called, change)
        check(called)
      }
    }
  }
  return entries
}

function addText(entries: Entry[], who: Said["who"], { messageId, content }: ContentChunk): void {
  assert.ok(messageId)
  const last = entries.findLast((entry): entry is Said => "who" in entry && entry.id === messageId)
  assert.ok(
    !last || (last === entries.at(-1) && last.who === who),
    `${messageId} continues after another entry, or by another speaker`,
  )
  const said: Said = last ?? { who, id: messageId, text: "", content: [] }
  if (!last) entries.push(said)
  if (content.type === "text") said.text += content.text
  else said.content.push(content)
}

function check({ title, locations = [], content = [] }: Called): void {
  assert.ok(title && title.length < 400 && !/[\p{Cc}\u202e]/u.test(title), JSON.stringify(title))
  for (const { path } of locations) assert.ok(isAbsolute(path), path)
  for (const item of content) if (item.type === "diff") assert.ok(isAbsolute(item.path), item.path)
}
