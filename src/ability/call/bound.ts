// Converts the return value of a tool into a result of the gate, bounded for a model. Known secrets are redacted,
// because results are stored, published and shown.
import * as Secret from "#kernel/process/secret.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { NamedError } from "#util/error.ts"
import { createOutput, maxShown } from "./output.ts"
import type { Context, Json, Output } from "./types.ts"

const slice = 1 << 20
const maxImages = 10

/** Text, data and title of a result. Data that exceeds the limit for text is left out. */
export async function bound(returned: Output | Json | undefined, context: Context): Promise<Output> {
  SecretFiles.hold()
  if (typeof returned === "string") return { text: await boundText(returned, context) }
  if (!isOutput(returned)) return boundJson(returned ?? null, context)
  const { text, data, title, images } = returned
  const json = data === undefined ? undefined : toJson(data)
  return {
    text: await boundText(text, context),
    ...(json !== undefined && json.length <= maxShown ? { data: JSON.parse(json) } : {}),
    ...(title === undefined ? {} : { title: Secret.redact(title).slice(0, 200) }),
    ...(images?.length ? { images: images.slice(0, maxImages) } : {}),
  }
}

/** At most 50 KB; longer text is cut in the middle and stored whole in a file. */
export async function boundText(whole: string, context: Context): Promise<string> {
  SecretFiles.hold()
  // Before it is cut or stored: a file on disk must have no secret either.
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

async function boundJson(value: Json, context: Context): Promise<Output> {
  const json = toJson(value)
  const text = await boundText(json, context)
  return json.length <= maxShown ? { text, data: JSON.parse(json) } : { text }
}

function toJson(value: Json): string {
  try {
    return Secret.redactJson(JSON.stringify(value) ?? "null")
  } catch (error) {
    throw new NamedError("Tool.NotJson", `The tool gave back something that is not JSON: ${String(error)}`)
  }
}

function isOutput(value: unknown): value is Output {
  return typeof value === "object" && value !== null && typeof (value as Output).text === "string"
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
