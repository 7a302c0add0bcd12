// How many prompts may run and wait: of one person, of one project, and of all servers of a database together; and how many
// schedules there may be. The limits are a record of the database, so all servers agree on them, and a change holds at once.
import { z } from "zod"
import * as Storage from "#kernel/storage/storage.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

export const names = [
  "running.person",
  "running.project",
  "running.fleet",
  "waiting.person",
  "waiting.project",
  "waiting.fleet",
  "schedules.person",
  "schedules.fleet",
] as const
export type Name = (typeof names)[number]
/** Infinity: there is no limit. */
export type Limits = Readonly<Record<Name, number>>

/** A prompt that would have to wait, and too many wait already. */
export class TooMany extends NamedError {
  constructor({ name, who, count, limit }: { name: Name; who: string; count: number; limit: number }) {
    const why = limit
      ? `${who} has ${count} waiting prompt${count === 1 ? "" : "s"}, and the limit ${name} is ${limit}`
      : `no prompt of ${who} may wait (the limit ${name} is 0), and it cannot begin at once`
    const next = limit ? "one of them has begun" : "one that runs is over"
    super(
      "Prompt.TooManyWaiting",
      `The prompt was not accepted: ${why}. Try again when ${next}, or raise the limit: ${ownCommand} limit set ${name} NUMBER`,
      { name, limit, waiting: count },
    )
  }
}

const key = ["limit", "job"] as const
const Stored = z.record(z.string(), z.number().int().nonnegative())

/** The workers limit what runs. Nobody shall fill the database with prompts that wait, or with schedules. */
const defaults: Limits = {
  "running.person": Number.POSITIVE_INFINITY,
  "running.project": Number.POSITIVE_INFINITY,
  "running.fleet": Number.POSITIVE_INFINITY,
  "waiting.person": 1_000,
  "waiting.project": Number.POSITIVE_INFINITY,
  "waiting.fleet": 5_000,
  "schedules.person": 100,
  "schedules.fleet": 1_000,
}

export async function get(): Promise<Limits> {
  return { ...defaults, ...(await stored()) }
}

/** `value`: undefined restores the default. */
export async function set(name: Name, value: number | undefined): Promise<void> {
  await Storage.update<Partial<Record<Name, number>>>(
    key,
    (draft) => {
      if (value === undefined) delete draft[name]
      else draft[name] = value
    },
    { initial: {} },
  )
}

async function stored(): Promise<z.infer<typeof Stored>> {
  try {
    return Stored.parse(await Storage.read(key))
  } catch (error) {
    if (error instanceof Storage.NotFound) return {}
    throw error
  }
}
