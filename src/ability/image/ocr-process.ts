// Runs the OCR engine in a process of its own, so that a crash, a hang or a lack of memory does not affect the program,
// and all memory is freed at its end. This file imports none of our modules: a bundler could put a shared module into
// the chunk of the whole program.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { gunzipSync } from "node:zlib"

/** Where the engine (Tesseract compiled to WebAssembly) and its English data are. */
export type Files = { core: string; data: string }
export type Task = Files | { image: Uint8Array }
export type Answer = { ready: true } | { text: string; confidence: number } | { error: string }

type Core = (options: object) => Promise<{
  FS: { writeFile(path: string, bytes: Uint8Array): void }
  TessBaseAPI: new () => Api
}>
/** The part of Tesseract's C++ interface that we call. A status of 0 is success. */
type Api = {
  Init(folder: null, language: string, engine: number): number
  /** Reads `/input` and turns it upright: `orientation` is the value of its EXIF tag. */
  SetImageFile(orientation: number, radians: number): number
  Recognize(monitor: null): number
  GetUTF8Text(): string
  MeanTextConf(): number
}
type Recognize = (image: Buffer) => Answer

/** The path of this file, bundled or not, and the argument that starts it as a process. */
export const location: string = import.meta.url
export const mark = "--read-images"

/** Tesseract's LSTM engine. The data that we ship does not work with the legacy engine. */
const neural = 1
/** The EXIF tag 0x0112 with one short value, in both byte orders. EXIF is at the start of a JPEG. */
const orientationTag =
  /\x01\x12\x00\x03\x00\x00\x00\x01\x00([\x01-\x08])|\x12\x01\x03\x00\x01\x00\x00\x00([\x01-\x08])\x00/
const exifBytes = 1_000

if (process.send && process.argv[2] === mark) serve()

function serve(): void {
  let recognize: Recognize | undefined
  // The parent process has ended.
  process.on("disconnect", () => process.exit())
  process.on("message", async (task: Task) => {
    try {
      if ("image" in task) return send(recognize!(Buffer.from(task.image)))
      recognize = await start(task)
      send({ ready: true })
    } catch (error) {
      send({ error: error instanceof Error ? error.message : String(error) })
    }
  })
}

async function start({ core, data }: Files): Promise<Recognize> {
  const load = createRequire(core)(core) as Core
  // The engine calls this to report its progress.
  const engine = await load({ TesseractProgress() {} })
  engine.FS.writeFile("eng.traineddata", gunzipSync(readFileSync(data)))
  const api = new engine.TessBaseAPI()
  if (api.Init(null, "eng", neural) !== 0) throw new Error("it cannot load its language data")
  return (image) => {
    engine.FS.writeFile("/input", image)
    if (api.SetImageFile(orientationOf(image), 0) !== 0) return { error: "the engine cannot open the image" }
    if (api.Recognize(null) !== 0) return { error: "the engine failed to recognise the image" }
    return { text: api.GetUTF8Text(), confidence: api.MeanTextConf() }
  }
}

function orientationOf(image: Buffer): number {
  const [, big, little] = orientationTag.exec(image.toString("latin1", 0, exifBytes)) ?? []
  return (big ?? little ?? "\x01").charCodeAt(0)
}

function send(answer: Answer): void {
  process.send?.(answer)
}
