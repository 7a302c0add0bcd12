// The Tab key, as people press it who use no mouse.
import assert from "node:assert/strict"
import type { Page } from "playwright-core"
import { until } from "../../fixture/until.ts"

/** Presses Tab until something with this name has the focus. Everything on the way must show that it has it. */
export async function pressTab(page: Page, name: RegExp, key = "Tab"): Promise<void> {
  await until(() => hasTarget(page, name), `something that can have the focus is called ${name}`)
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

/** A list that is still being loaded, or a button that is still disabled, would be passed over. */
function hasTarget(page: Page, name: RegExp): Promise<boolean> {
  return page.evaluate((name) => {
    const parts = document.querySelectorAll<HTMLElement>(
      "a, button, input, textarea, select, summary, [tabindex]",
    )
    return [...parts].some((element) => {
      const label = `${element.role === "tab" ? "tab " : ""}${(element.ariaLabel ?? element.textContent ?? "").trim()}`
      return name.test(label) && element.checkVisibility() && !element.matches(":disabled")
    })
  }, name)
}
