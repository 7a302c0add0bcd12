// The lines of `vitamin doctor` about quarantined records, and `vitamin doctor --restore`, which restores those whose
// files can be read again.
import { join } from "node:path"
import { z } from "zod"
import * as Session from "#engine/session/session.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { gapsIn } from "#knowledge/message/gaps.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

type Quarantined = Storage.Quarantined

const repair = `repair that file if its text can be recovered, then: ${ownCommand} doctor --restore`

/** Call after `Storage.check`, which quarantines broken records. */
export async function findQuarantined(): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const one of await Storage.quarantined([])) {
    const problem = await problemOf(one)
    const place = `it is quarantined as ${one.place}`
    const text = `${one.key.join("/")} ${problem ? `is broken (${problem})` : "was broken"}; ${place}`
    findings.push(
      (await isThere(one))
        ? {
            state: "note",
            about: "quarantine",
            text,
            todo: `the record was repaired or rebuilt; ${one.removal}`,
          }
        : {
            state: "bad",
            about: "quarantine",
            text,
            todo: problem ? repair : `it can be read: ${ownCommand} doctor --restore`,
          },
    )
  }
  return [...findings, ...(await findInvalid())]
}

/** Restore each record whose file can be read now, unless a newer one has taken its place. */
export async function restoreQuarantined(): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const one of (await Storage.quarantined([])).reverse()) {
    const read = await Storage.readQuarantined(one)
    if (!("value" in read) || (await problemOf(one)) || (await isThere(one))) continue
    await Storage.write(one.key, read.value)
    await Storage.dropQuarantined(one)
    findings.push({ state: "ok", about: "restored", text: one.key.join("/") })
  }
  return findings
}

/** Finds files that are JSON but not messages. They are not quarantined. */
async function findInvalid(): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const sessionId of await Storage.list(["message"])) {
    const ids = new Set(await Storage.list(["message", sessionId]))
    for (const { id, reason } of gapsIn(await MessageStore.list(sessionId))) {
      if (!ids.has(id)) continue
      const text = `${join(Global.data(), "storage", "message", sessionId, `${id}.json`)}: ${reason}`
      findings.push({
        state: "bad",
        about: "message",
        text,
        todo: "repair that file; the session works without it",
      })
    }
  }
  return findings
}

async function isThere({ key }: Quarantined): Promise<boolean> {
  return Storage.read(key).then(
    () => true,
    () => false,
  )
}

/** Why a file cannot be restored; undefined if it can. */
async function problemOf(one: Quarantined): Promise<string | undefined> {
  const read = await Storage.readQuarantined(one)
  if ("reason" in read) return read.reason
  const [kind, place, id] = one.key
  try {
    if (kind === "message") Message.parse(read.value, { sessionId: place!, id: id! })
    if (kind === "session") Session.Info.parse(read.value)
    return undefined
  } catch (error) {
    return error instanceof z.ZodError ? z.prettifyError(error).replaceAll("\n", " ") : errorText(error)
  }
}
