// The colours, for a dark or a light terminal: as the person chose with `/theme`, which is kept in a file, else as the setting
// says, else as the terminal reports.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { colorDepth, schemeOfEnvironment } from "./detect.ts"
import type { Paint } from "./line.ts"
import { createPaint, type Scheme } from "./style.ts"

export type ThemeChoice = Scheme | "auto"
export const themeChoices: readonly ThemeChoice[] = ["auto", "dark", "light"]

export function createTheme(file: string, changed: () => void) {
  const depth = colorDepth()
  let detected = schemeOfEnvironment()
  let choice = read(file)
  let setting: ThemeChoice = "auto"
  let scheme = wanted()
  let paint = createPaint({ depth, scheme })

  function wanted(): Scheme {
    const chosen = choice === "auto" ? setting : choice
    return chosen === "auto" ? detected : chosen
  }

  function apply(): void {
    const next = wanted()
    if (next === scheme) return
    scheme = next
    paint = createPaint({ depth, scheme })
    changed()
  }

  return Object.freeze({
    get choice() {
      return choice
    },
    depth,
    paint: (): Paint => paint,
    /** The terminal has reported its background. */
    detect(next: Scheme): void {
      detected = next
      apply()
    },
    /** `terminal.theme` of the configuration. */
    configure(next: ThemeChoice): void {
      setting = next
      apply()
    },
    /** Throws if the choice cannot be kept. */
    choose(next: ThemeChoice): void {
      choice = next
      apply()
      if (next === "auto") rmSync(file, { force: true })
      else {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, `${next}\n`)
      }
    },
  })
}

/** Without a readable choice: what is detected. */
function read(file: string): ThemeChoice {
  try {
    const text = readFileSync(file, "utf8").trim()
    return themeChoices.find((choice) => choice === text) ?? "auto"
  } catch {
    return "auto"
  }
}
