// What a paste becomes: text without control characters, a marker if it is long, attachments if it names image files.
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { type Fragment, fragmentOf, type Marker } from "./document.ts"

const maxLines = 8
const maxCharacters = 1_000
/** Longer than the paths of files that a person drops at once. */
const maxPaths = 8_000
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const word = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/gs
const isImage = /\.(?:png|jpe?g|webp|gif)$/i

export function pastedFragment(pasted: string, isFile: (path: string) => boolean): Fragment {
  const text = cleanText(pasted)
  const images = imagesIn(text, isFile)
  if (images) return [images.flatMap((path) => [imageMarker(path), " "])]
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  if (lines <= maxLines && text.length <= maxCharacters) return fragmentOf(text)
  const count = text.endsWith("\n") ? lines - 1 : lines
  const size = count > 1 ? `${count} lines` : `${text.length} characters`
  return [[{ label: `[pasted ${size}]`, text }]]
}

/** Newlines as `\n`; no control characters but tabs. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(controls, "").toWellFormed()
}

export function imageMarker(path: string): Marker {
  const label = `[image ${basename(path).replaceAll("\n", " ")}]`
  return { label, text: label, image: path }
}

/** Terminals quote or escape the paths of dropped files, or write them as they are, or as `file://`. */
function imagesIn(text: string, isFile: (path: string) => boolean): string[] | undefined {
  const whole = text.trim()
  if (whole === "" || whole.length > maxPaths || !isImage.test(whole.replace(/["']$/, ""))) return undefined
  if (isAbsolute(whole) && isFile(whole)) return [whole]
  const paths = wordsIn(whole).map(pathOf)
  const areImages = paths.every((path) => isAbsolute(path) && isImage.test(path) && isFile(path))
  return paths.length > 0 && areImages ? paths : undefined
}

/** Words in double or single quotes, or with `\` before special characters. None if a quote is left open. */
function wordsIn(text: string): string[] {
  if (text.replace(word, "").trim() !== "") return []
  return Array.from(text.matchAll(word), ([found]) =>
    found.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
      (_, double?: string, single?: string, escaped?: string) =>
        double?.replace(/\\(["\\$`])/g, "$1") ?? single ?? escaped ?? "",
    ),
  )
}

function pathOf(text: string): string {
  if (!text.startsWith("file://")) return text
  try {
    return fileURLToPath(text)
  } catch {
    return text
  }
}

function isAbsolute(path: string): boolean {
  return /^(?:\/|~\/|\.{1,2}\/)/.test(path)
}
