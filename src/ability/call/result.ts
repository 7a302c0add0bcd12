// Converts what a tool returned or threw into a result, bounded for a model. Known secrets are redacted, because results
// are stored, published and shown.
import { inspect } from "node:util"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorCode, NamedError } from "#util/error.ts"
import { createOutput, maxShown } from "./output.ts"
import type { Context, Json, Output, Result } from "./types.ts"

const slice = 1 << 20
const maxImages = 10

const maxStack = 4_000
const ordinary = new Set(
  "ENOENT ENOTDIR EISDIR EACCES EPERM EEXIST ENAMETOOLONG ELOOP ENOTEMPTY ETIMEDOUT ECONNREFUSED".split(" "),
)

/** A constraint, a hook or a permission refused the call. */
export class Refused extends NamedError {
  readonly by: NonNullable<Result["refused"]>

  constructor(by: NonNullable<Result["refused"]>, message: string) {
    super("Tool.Refused", message, { by })
    this.by = by
  }
}

/** Text, data and title of a result. Data that exceeds the limit for text is left out. */
export async function bound(returned: Output | Json | undefined, context: Context): Promise<Output> {
  SecretFiles.register()
  if (typeof returned === "string") return { text: await redactAndBound(returned, context) }
  if (!isOutput(returned)) return boundJson(returned ?? null, context)
  const { data, title, images, colors } = returned
  const text = await redactAndBound(returned.text, context)
  const json = data === undefined ? undefined : toJson(data)
  return {
    text,
    // Places in another text would be wrong.
    ...(colors && text === returned.text ? { colors } : {}),
    ...(json !== undefined && json.length <= maxShown ? { data: JSON.parse(json) } : {}),
    ...(title === undefined ? {} : { title: Secret.redact(title).slice(0, 200) }),
    ...(images?.length ? { images: images.slice(0, maxImages) } : {}),
  }
}

/** At most 50 KB; longer text is cut in the middle and stored whole in a file. */
export async function boundText(whole: string, context: Context): Promise<string> {
  SecretFiles.register()
  return redactAndBound(whole, context)
}

async function redactAndBound(whole: string, context: Context): Promise<string> {
  // Redact before the text is cut and stored, so that the file has no secret in it either.
  const text = Secret.redact(whole)
  if (text.length * 3 <= maxShown || Buffer.byteLength(text) <= maxShown) return text
  const output = createOutput(context)
  for (let at = 0; at < text.length; ) {
    const end = at + slice + (isHighSurrogate(text.charCodeAt(at + slice - 1)) ? 1 : 0)
    await output.write(text.slice(at, end))
    at = end
  }
  return output.finish()
}

/** The result for any thrown value. After an abort it is "interrupted", whatever the tool threw. */
export async function failure(error: unknown, context: Context): Promise<Omit<Result, "duration">> {
  const interrupted = context.signal.aborted
  const message = await boundText(interrupted ? "The call was interrupted." : messageOf(error), context)
  const stack = error instanceof Error && !interrupted ? error.stack : undefined
  return {
    status: interrupted ? "interrupted" : "error",
    text: message,
    error: {
      message,
      ...(typeof stack === "string" ? { stack: Secret.redact(stack).slice(0, maxStack) } : {}),
      recoverable: interrupted || isRecoverable(error),
    },
    ...(error instanceof Refused && !interrupted ? { refused: error.by } : {}),
  }
}

async function boundJson(value: Json, context: Context): Promise<Output> {
  const json = toJson(value)
  const text = await redactAndBound(json, context)
  return json.length <= maxShown ? { text, data: JSON.parse(json) } : { text }
}

function toJson(value: Json): string {
  try {
    return Secret.redactJson(JSON.stringify(value) ?? "null")
  } catch (error) {
    throw new NamedError(
      "Tool.NotJson",
      `The tool returned a value that cannot be written as JSON: ${String(error)}`,
    )
  }
}

function isOutput(value: unknown): value is Output {
  return typeof value === "object" && value !== null && typeof (value as Output).text === "string"
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function messageOf(error: unknown): string {
  if (typeof error === "string" && error) return error
  return error instanceof Error && error.message ? String(error.message) : inspect(error)
}

function isRecoverable(error: unknown): boolean {
  return error instanceof NamedError || ordinary.has(errorCode(error) ?? "")
}
