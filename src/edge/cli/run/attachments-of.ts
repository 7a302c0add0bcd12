// The attachments of a prompt on the command line: --file and --image.
import type { PromptOptions } from "#edge/cli/option/prompt-options.ts"
import type * as Session from "#engine/session/session.ts"

/** A URL of any scheme: the request later reports one that is not supported. */
const isAddress = /^(?:data:|[a-z][a-z\d+.-]*:\/\/)/i

export async function attachmentsOf(
  options: Pick<PromptOptions, "file" | "image" | "imageMode">,
): Promise<Session.PromptPart[]> {
  const { file = [], image = [], imageMode: mode = "auto" } = options
  const images = image.map((value) => ({
    type: "image" as const,
    source: { kind: isAddress.test(value) ? ("url" as const) : ("file" as const), value },
    mode,
  }))
  if (!file.length) return images
  const { parseReference } = await import("#engine/attach/find-references.ts")
  return [...file.map(parseReference), ...images]
}
