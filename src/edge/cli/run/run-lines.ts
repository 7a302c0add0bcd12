// What `vitamin run --format json` prints: a line that says which version of the format follows, then every event, then a
// line with the outcome. docs/run-output.schema.json is generated from these schemas and those of the events.
import { z } from "zod"
import type * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Message from "#knowledge/message/message.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { version } from "#util/version.ts"

/** Raise it when a line loses something that programs may read: a type of event, a field, a value. Additions keep it. */
export const linesVersion = 1

const Started = z.object({
  schema: about("Version of this format. Additions keep it.", z.literal(linesVersion)),
  vitamin: about("Version of vitamin.", z.string()),
  sessionId: about("Session of the run.", z.string()),
})

const Ended = z.object({
  sessionId: about("Session of the run.", z.string()),
  exitCode: about("Exit code of the command, as docs/cli.md lists them.", z.number().int()),
  answer: about("Text of the final answer; missing if there is none.", z.string().optional()),
  output: about(
    "With `--output-schema`: the answer as the value that fits the schema.",
    z.unknown().optional(),
  ),
  error: about(
    "Why the run failed.",
    z.object({
      name: about("Name of the error, such as `Session.OutputMismatch`.", z.string()),
      message: about("What failed, and what would work.", z.string()),
    }),
  ).optional(),
})

/** How a run ended. */
export type Outcome = { exitCode: number; answer?: Message.Info; output?: unknown; error?: unknown }

/** The lines that are no events, with their meaning. */
export const ownLines = {
  "run.started": { schema: Started, when: "The first line." },
  "run.ended": { schema: Ended, when: "The last line, if the command was not killed." },
} as const

export function printLines(session: Session.Info): { stop(): void; end(outcome: Outcome): void } {
  const { directory } = Instance
  writeOwn("run.started", { schema: linesVersion, vitamin: version, sessionId: session.id })
  const stop = Bus.subscribe("*", (event) => void process.stdout.write(`${JSON.stringify(event)}\n`))

  function end({ exitCode, answer, output, error }: Outcome): void {
    const text = answer && Message.textOf(answer)
    const reason = error instanceof Error ? error : undefined
    writeOwn("run.ended", {
      sessionId: session.id,
      exitCode,
      ...(text === undefined ? {} : { answer: text }),
      ...(output === undefined ? {} : { output }),
      ...(reason ? { error: { name: reason.name, message: errorText(reason) } } : {}),
    })
  }

  /** The bus redacts events; these lines do not pass it. */
  function writeOwn(type: keyof typeof ownLines, payload: object): void {
    const line = JSON.stringify({ type, time: Date.now(), directory, payload })
    process.stdout.write(`${Secret.redactJson(line)}\n`)
  }

  return Object.freeze({ stop, end })
}
