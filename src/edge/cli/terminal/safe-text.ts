// Words of others for a terminal, which does as it is told: a model may repeat a page that it read.
import * as Log from "#kernel/process/log.ts"

export function safeText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\n\t]+/g, Log.escapeControls)
}
