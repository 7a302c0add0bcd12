// Writes the licences of all packages that are bundled or copied into `dist/` to a file there, as the licences require.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Rolldown } from "tsdown"

/** Packages whose files the build copies. The WebAssembly of the first contains Tesseract (Apache-2.0) and Leptonica
 * (BSD-2-Clause). */
const copied = ["node_modules/tesseract.js-core", "node_modules/@tesseract.js-data/eng"]

export const licences: Rolldown.Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((output) => (output.type === "chunk" ? output.moduleIds : []))
    const folders = new Set([...files.flatMap((file) => packageFolder(file) ?? []), ...copied])
    const source = [...folders]
      .map(licenceOf)
      .sort()
      .join(`\n${"-".repeat(80)}\n\n`)
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source })
  },
}

/** The folder of the package that a file is from. */
function packageFolder(file: string): string | undefined {
  if (!file.includes("/node_modules/")) return undefined
  for (
    let folder = dirname(file.replace(/^\0/, ""));
    folder.includes("/node_modules/");
    folder = dirname(folder)
  ) {
    const description = join(folder, "package.json")
    if (existsSync(description) && JSON.parse(readFileSync(description, "utf8")).name) return folder
  }
  return undefined
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim())
  return [`${name} ${version} (${license})`, "", ...texts, ""].join("\n")
}
