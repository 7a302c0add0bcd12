// Answers what a page does by itself: dialogs, downloads, windows. Each is noted for the model.
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { Dialog, Download } from "playwright-core"
import { outputFolder } from "#ability/call/output-folder.ts"
import { errorText } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { type Notes, quote } from "./notes.ts"
import type { Browser } from "./start-browser.ts"

export type Watch = Readonly<{
  /** Answers confirm and prompt with OK from now on, or with Cancel. */
  answer(accept: boolean): void
  /** How many downloads there were. */
  downloads(): number
  /** Resolves when the downloads are on disk, or the time is over. */
  downloaded(milliseconds: number): Promise<void>
}>

const maxDownloads = 20

export function watchPage(
  browser: Browser,
  { sessionId, notes }: { sessionId: string; notes: Notes },
): Watch {
  const { context, page } = browser
  const running = new Set<Promise<void>>()
  let accepts = false
  let downloads = 0

  page.on("dialog", (dialog) => void answerDialog(dialog).catch(() => {}))
  page.on("download", (download) => {
    const kept = keep(download).finally(() => running.delete(kept))
    running.add(kept)
  })
  context.on("page", (opened) => {
    opened.on("dialog", (dialog) => void dialog.dismiss().catch(() => {}))
    opened.on("download", (download) => void download.cancel().catch(() => {}))
    void opened.close().catch(() => {})
  })

  async function answerDialog(dialog: Dialog): Promise<void> {
    const type = dialog.type()
    // A page must not be able to refuse to be left.
    const isOk = type === "beforeunload" || type === "alert" || accepts
    if (type !== "beforeunload")
      notes.add(
        "dialogs of the page",
        `${type} ${quote(dialog.message())}, answered with ${isOk ? "OK" : "Cancel"}`,
      )
    await (isOk ? dialog.accept(type === "prompt" ? dialog.defaultValue() : undefined) : dialog.dismiss())
  }

  async function keep(download: Download): Promise<void> {
    const name = safeName(download.suggestedFilename())
    try {
      if (++downloads > maxDownloads) {
        notes.add("downloads refused, there were too many", quote(name))
        return await download.cancel()
      }
      const folder = join(outputFolder(sessionId), "downloads")
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${downloads}-${name}`)
      await download.saveAs(path)
      notes.add("downloads, kept and not opened", path)
    } catch (error) {
      notes.add("downloads that failed", `${quote(name)} (${errorText(error).split("\n")[0]})`)
    }
  }

  return Object.freeze({
    answer(accept) {
      accepts = accept
    },
    downloads: () => downloads,
    downloaded: (milliseconds) => waitAtMost(milliseconds, Promise.all(running)),
  })
}

function safeName(name: string): string {
  return (
    name
      .replace(/[^\w.-]+/g, "_")
      .replace(/^\.+/, "")
      .slice(-80) || "file"
  )
}
