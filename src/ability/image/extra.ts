// Parts that are not installed with the program, since few need them and they are large. They are found beside the
// program, or in a folder of their own that one command fills.
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import * as Global from "#kernel/global.ts"
import { NamedError } from "#util/error.ts"
import { quoteWord } from "#util/quote-word.ts"

type Name = "tesseract.js" | "@tesseract.js-data/eng" | "tinyld"

const versions: Record<Name, string> = {
  "tesseract.js": "7.0.0",
  "@tesseract.js-data/eng": "1.0.0",
  tinyld: "1.3.4",
}

export class Missing extends NamedError {
  constructor(names: Name[]) {
    super(
      "Image.Missing",
      `Text in images cannot be read yet; not installed: ${names.join(", ")}. This adds it: ${command()}`,
      { names },
    )
  }
}

/** The command that installs all of them. */
export function command(): string {
  const all = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  return `npm install --prefix ${quoteWord(folder())} ${all.join(" ")}`
}

/** Where a package begins to run, or undefined where it is not installed. */
export function find(name: Name): string | undefined {
  return lookUp(name)
}

/** The folder of a package. */
export function findFolder(name: Name): string | undefined {
  const file = lookUp(`${name}/package.json`)
  return file && dirname(file)
}

/** Those of the names that are not installed. */
export function missing(...names: Name[]): Name[] {
  return names.filter((name) => !findFolder(name) && !find(name))
}

function folder(): string {
  return join(Global.data(), "extra")
}

function lookUp(specifier: string): string | undefined {
  for (const from of [import.meta.url, join(folder(), "package.json")])
    try {
      return createRequire(from).resolve(specifier)
    } catch {
      // Not here.
    }
  return undefined
}
