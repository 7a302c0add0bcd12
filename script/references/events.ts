// The parts of docs/events.md: every event with when it is published and its fields.
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Info } from "#engine/record/session-info.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { type Field, fieldsOf, receivedTable, schemaOf } from "./fields.ts"

const source = resolve(import.meta.dirname, "../../src")

/** Fields that many events have. */
const common = {
  sessionId: "Session that it is about.",
  messageId: "Message that it is about.",
  callId: "Tool call that it is about.",
  message: "The message, as [messages.md](messages.md) describes it.",
  session: "The record of the session, [below](#the-session-record).",
}
const elsewhere = new Set(["message", "session", "todos"])

export type Event = { type: string; when: string; live: boolean; fields: Field[] }

/** All events that the source defines. */
export async function events(): Promise<Event[]> {
  await loadEvents()
  return Bus.list()
    .map(({ type, when = "", live, schema }) => ({
      type,
      when,
      live,
      fields: fieldsOf(schemaOf(schema, "output"), { common, elsewhere }),
    }))
    .sort((a, b) => (a.type < b.type ? -1 : 1))
}

/** Loads the modules that define events. */
export async function loadEvents(): Promise<void> {
  for (const file of globSync("**/*.ts", { cwd: source }))
    if (/Bus\.define\(/.test(readFileSync(join(source, file), "utf8")))
      await import(pathToFileURL(join(source, file)).href)
}

export function sessionFields(): Field[] {
  return fieldsOf(schemaOf(Info, "output"))
}

export async function renderEvents(): Promise<Record<string, string[]>> {
  const all = await events()
  return {
    events: all.flatMap(({ type, when, live, fields }) => [
      `### \`${type}\``,
      "",
      live ? `${when} Live: it has no id and is never replayed.` : when,
      "",
      ...receivedTable(fields),
      "",
    ]),
    session: receivedTable(sessionFields()),
  }
}
