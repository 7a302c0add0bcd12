// Sessions with hooks: a loopback model, and hooks of the person or of the project.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Trust from "#kernel/trust/trust.ts"
import type { Script } from "../../fixture/fake-llm.ts"
import { inWorld, type World } from "../session/harness.ts"

type Entry = { command: string; matcher?: string; [key: string]: unknown }
/** Commands by event. */
export type Commands = Record<string, string | Entry | (string | Entry)[]>

/** The JSON of a file of hooks. */
export function hooksJson(commands: Commands): string {
  const groups = Object.entries(commands).map(([event, given]) => [
    event,
    [given].flat().map((one) => {
      const { matcher, ...entry } = typeof one === "string" ? { command: one } : one
      return { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: "command", ...entry }] }
    }),
  ])
  return JSON.stringify({ hooks: Object.fromEntries(groups) })
}

/** With hooks of the person, which need no review. */
export function withHooks(
  commands: Commands,
  script: Script,
  fn: (world: World) => Promise<unknown>,
  setting: Parameters<typeof inWorld>[2] = {},
): Promise<void> {
  return inWorld(
    script,
    async (world) => {
      const file = join(Global.config(), "hooks.json")
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, hooksJson(commands))
      await fn(world)
    },
    { git: true, ...setting },
  )
}

/** With hooks of the project that a person has reviewed. `files`: scripts beside them. */
export function withReviewed(
  { commands, files = {} }: { commands: Commands; files?: Record<string, string> },
  script: Script,
  fn: (world: World) => Promise<unknown>,
): Promise<void> {
  return inWorld(
    script,
    async (world) => {
      world.tmp.write(".vitamin/hooks.json", hooksJson(commands))
      for (const [name, content] of Object.entries(files)) world.tmp.write(name, content)
      await Trust.grant(world.tmp.path)
      await fn(world)
    },
    { git: true },
  )
}

/** The texts of all notices. */
export function noticesOf({ events }: World): string[] {
  return events.flatMap(({ type, payload }) =>
    type === "session.notice" ? [(payload as { text: string }).text] : [],
  )
}

/** A command that appends what it is told to a file of the project, one line each. */
export function noteIn(name: string): string {
  return `cat >> "$CLAUDE_PROJECT_DIR"/${name}`
}

/** What `noteIn` has written. */
export function notedIn({ tmp }: World, name: string): Record<string, unknown>[] {
  const file = join(tmp.path, name)
  if (!existsSync(file)) return []
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** A command that prints this answer. */
export function answer(value: unknown): string {
  return `printf %s '${JSON.stringify(value).replaceAll("'", "'\\''")}'`
}

/** The same for `hookSpecificOutput`. */
export function decide(hookEventName: string, fields: object): string {
  return answer({ hookSpecificOutput: { hookEventName, ...fields } })
}
