// The Tab key, as people press it who use no mouse.
import assert from "node:assert/strict"
import type { Page } from "playwright-core"

/** Presses Tab until something with this name has the focus. Everything on the way must show that it has it. */
export async function pressTab(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  const passed: string[] = []
  for (let steps = 0; steps < 80; steps++) {
    await page.keyboard.press(key)
    const { label, isSeen } = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement
      const { outlineStyle } = getComputedStyle(element)
      return {
        label: `${element.role === "tab" ? "tab " : ""}${(element.ariaLabel ?? element.textContent ?? "").trim()}`,
        isSeen: ["BODY", "MAIN"].includes(element.tagName) || outlineStyle !== "none",
      }
    })
    assert.ok(isSeen, `the focus on ${JSON.stringify(label)} is visible`)
    if (name.test(label)) return
    passed.push(label.slice(0, 30))
  }
  assert.fail(`the Tab key does not reach ${name}: ${passed.join(" | ")}`)
}
