// Text that is on the page for a moment only, such as "Copied".
import type { Page } from "playwright-core"

/** Resolves when the page shows this text, or has shown it since the call: it may be gone before a test looks for it. */
export function shows(page: Page, text: string): Promise<void> {
  return page.evaluate(
    (text) =>
      new Promise<void>((shown) => {
        const observer = new MutationObserver(look)
        function look() {
          if (!document.body.textContent.includes(text)) return
          observer.disconnect()
          shown()
        }
        observer.observe(document, { subtree: true, childList: true, characterData: true })
        look()
      }),
    text,
  )
}
