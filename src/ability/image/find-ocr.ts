// The files of the OCR engine. The package has them in `ocr/` beside the bundle; in a checkout they are in node_modules.
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { NamedError } from "#util/error.ts"
import type { Files } from "./ocr-process.ts"

const packaged: Files = {
  core: fileURLToPath(new URL("./ocr/tesseract-core-simd-lstm.cjs", import.meta.url)),
  data: fileURLToPath(new URL("./ocr/eng.traineddata.gz", import.meta.url)),
}

export class OcrMissing extends NamedError {
  constructor() {
    super(
      "Ocr.Missing",
      `Text in images cannot be read: this installation has no OCR engine (${packaged.core}). Installing the package again adds it.`,
    )
  }
}

/** Undefined if this installation has no OCR engine. */
export function findOcr(): Files | undefined {
  if (existsSync(packaged.core) && existsSync(packaged.data)) return packaged
  try {
    return {
      core: fileURLToPath(import.meta.resolve("tesseract.js-core/tesseract-core-simd-lstm.js")),
      data: fileURLToPath(import.meta.resolve("@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz")),
    }
  } catch {
    return undefined
  }
}
