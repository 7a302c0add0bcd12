// Servers that a client adds to a session.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import type { Added } from "#ability/mcp/load-servers.ts"
import { until } from "../../fixture/until.ts"
import { running } from "../shell/running.ts"

type Entry = {
  command?: string
  args?: string[]
  env?: Record<string, string>
  type?: string
  url?: string
  headers?: Record<string, string>
}

/** A command becomes a list, as from an editor. */
export function sessionServer(
  id: string,
  { command, args = [], ...rest }: Entry,
  more: Partial<Added> = {},
): Added {
  const entry = command === undefined ? rest : { ...rest, command: [command, ...args] }
  return {
    id,
    entry,
    source: "ACP session/new",
    folder: tmpdir(),
    isOwn: true,
    isLiteral: true,
    ...more,
  }
}

/** Of the server with a word in its command line, not of the shell that guards it. */
export function pidOf(word: string): number {
  const [line = "", ...more] = running(word).filter((line) => !line.includes("/bin/sh"))
  assert.deepEqual(more, [])
  assert.match(line, /^\S+ +\d+ /)
  return Number(line.split(/ +/)[1])
}

/** The processes with a word in their command line have ended. */
export async function ended(word: string): Promise<void> {
  await until(() => running(word).length === 0, `${word} has ended`)
}

/** How often a tiny server was started that writes to this file. */
export function starts(log: string): number {
  return readFileSync(log, "utf8").match(/^started$/gm)?.length ?? 0
}
