// Reads a referenced file like the `read` tool: judged by the same rules, opened before it is judged, bounded, with
// line numbers. Errors are stored in the message; only an abort throws.

import { boundText, failure } from "#ability/call/result.ts"
import { Missing } from "#ability/file/open-target.ts"
import { builtin } from "#ability/tool/builtin-tools.ts"
import type { Context } from "#ability/tool/tool.ts"
import * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import type { Attaching } from "./attaching.ts"

type Data = Message.Of<"file_reference">["data"]
type Asked = Pick<Data, "path" | "startLine" | "endLine">
/** What `read` returns beside the text. */
type Facts = { mimeType?: string; totalLines?: number; version?: NonNullable<Data["version"]> }

const imageType = /^image\/(png|jpeg|webp|gif)$/

class Unusable extends NamedError {
  constructor(message: string) {
    super("Session.UnusableFile", message)
  }
}

/** The message's data, resolved or failed; "image" if the file is an image. */
export async function resolveFile(
  message: Message.Of<"file_reference">,
  attaching: Attaching,
): Promise<Data | "image"> {
  const { path, startLine, endLine } = message.data
  const asked: Asked = {
    path,
    ...(startLine === undefined ? {} : { startLine }),
    ...(endLine === undefined ? {} : { endLine }),
  }
  try {
    return await readFile({ ...message, data: { ...asked, status: "pending" } }, attaching)
  } catch (error) {
    attaching.signal.throwIfAborted()
    const { text } = await failure(error, attaching.context)
    return { ...asked, status: "failed", error: saidMissing(error) ?? text }
  }
}

async function readFile(
  message: Message.Of<"file_reference">,
  attaching: Attaching,
): Promise<Data | "image"> {
  const found = await readReference(message, (asked) => attaching.permit(builtin.read, asked))
  if (found === "image") return found
  const { status: _, ...asked } = message.data
  const { text, version } = found
  return {
    ...asked,
    status: "resolved",
    content: await boundText(text, attaching.context),
    ...(version ? { version } : {}),
  }
}

/** A person reads this too, so it does not mention the model's tools. */
function saidMissing(error: unknown): string | undefined {
  if (!(error instanceof Missing)) return undefined
  const { nearest } = error.data
  return `there is no such file.${nearest.length ? ` Did you mean ${nearest.join(" or ")}?` : ""}`
}

/** The lines that a message asks for; throws if they do not exist. */
export async function readReference(
  message: Message.Of<"file_reference">,
  permit: (asked: Asked) => Promise<Context>,
): Promise<{ text: string; version?: Facts["version"] } | "image"> {
  const check = Message.validate(message)
  if (!check.ok) throw new Unusable(check.problems.map((problem) => problem.message).join("; "))
  const { status: _, ...asked } = message.data
  const { text, data } = await builtin.read.execute(asked, await permit(asked))
  const { mimeType, totalLines, version } = data as Facts
  const { path, startLine, endLine = startLine } = asked
  const isRange = endLine !== undefined
  if (mimeType && !isRange && imageType.test(mimeType)) return "image"
  if (mimeType) throw new Unusable(text)
  if (isRange && totalLines !== undefined && endLine > totalLines)
    throw new Unusable(
      `${JSON.stringify(path)} has ${totalLines} lines; lines ${startLine ?? 1}-${endLine} go beyond its end.`,
    )
  return { text, version }
}
