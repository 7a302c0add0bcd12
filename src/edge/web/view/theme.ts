// Settings of this browser: the colours, and whether single keys are shortcuts. They stay in the browser.
import { effect, signal } from "@preact/signals"
import { readStored, store } from "#edge/web/base/stored.ts"

export const themes = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const

export const theme = signal(readStored("vitamin.theme") ?? "auto")
export const hasKeys = signal(readStored("vitamin.keys") !== "off")

effect(() => {
  store("vitamin.theme", theme.value)
  document.documentElement.dataset.theme = theme.value
})
effect(() => store("vitamin.keys", hasKeys.value ? "on" : "off"))
