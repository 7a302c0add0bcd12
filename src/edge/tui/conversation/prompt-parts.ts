// The attachments of a prompt: as they are sent, and as they come back into the editor with a prompt that was not run.
import type { Attachment, Sent } from "./prompt-settings.ts"

const isAddress = /^(?:data:|[a-z][a-z\d+.-]*:\/\/)/i

export function imageParts(paths: readonly string[]): Attachment[] {
  return paths.map((value) => ({
    type: "image",
    source: { kind: isAddress.test(value) ? "url" : "file", value },
    mode: "auto",
  }))
}

/** Files that the command line named become references in the text. */
export function editableOf({ text, parts }: Sent): { text: string; images: string[] } {
  const files = parts.flatMap((part) => (part.type === "file_reference" ? [referenceTo(part)] : []))
  const images = parts.flatMap((part) => (part.type === "image" ? [part.source.value] : []))
  return { text: [text, ...files].filter(Boolean).join(" "), images }
}

function referenceTo({ path, startLine, endLine }: Extract<Attachment, { type: "file_reference" }>): string {
  return startLine === undefined ? `@"${path}"` : `@"${path}":${startLine}-${endLine ?? startLine}`
}
