// Escapes text for a terminal: a model may repeat control characters of a page that it read.
import * as Log from "#kernel/process/log.ts"

export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\n\t]+/g, Log.escapeControls)
}
