// Which language a text is in, as far as that can be told. The tables for it are loaded with the first text.
import { pathToFileURL } from "node:url"
import type { detect } from "tinyld"
import * as Extra from "./extra.ts"

type Library = { detect: typeof detect }

/** Shorter ones could be in any. */
const fewest = 12
const most = 5_000

/** `en`, or undefined: it cannot be told, or what tells it is not installed. */
export async function detectLanguage(text: string): Promise<string | undefined> {
  const sample = text.replace(/\s+/g, " ").trim().slice(0, most)
  if (sample.length < fewest) return undefined
  const file = Extra.find("tinyld")
  if (!file) return undefined
  const library = (await import(pathToFileURL(file).href)) as { default: Library }
  return library.default.detect(sample) || undefined
}
