// The OCR engine in a process of its own: it may crash, hang or run out of memory without taking the program along, and
// all its memory goes with it. It imports nothing that the rest of the program imports: in a bundle that could be the
// program itself.
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

/** The newer of its two kinds of recognition, and the only one that the data is for. */
const neural = 1
/** The tag 0x0112 with one short value, in both byte orders; EXIF stands at the start of a JPEG. */
const orientationTag =
  /\x01\x12\x00\x03\x00\x00\x00\x01\x00([\x01-\x08])|\x12\x01\x03\x00\x01\x00\x00\x00([\x01-\x08])\x00/
const exifBytes = 1_000

if (process.send && process.argv[2] === mark) serve()

function serve(): void {
  let recognize: Recognize | undefined
  // Whoever started it is gone.
  process.on("disconnect", () => process.exit())
  process.on("message", async (task: Task) => {
    try {
      if ("image" in task) return say(recognize!(Buffer.from(task.image)))
      recognize = await start(task)
      say({ ready: true })
    } catch (error) {
      say({ error: error instanceof Error ? error.message : String(error) })
    }
  })
}

async function start({ core, data }: Files): Promise<Recognize> {
  const load = createRequire(core)(core) as Core
  // It calls this while it reads, whether anybody wants to know or not.
  const engine = await load({ TesseractProgress() {} })
  engine.FS.writeFile("eng.traineddata", gunzipSync(readFileSync(data)))
  const api = new engine.TessBaseAPI()
  if (api.Init(null, "eng", neural) !== 0) throw new Error("it does not take its data")
  return (image) => {
    engine.FS.writeFile("/input", image)
    if (api.SetImageFile(orientationOf(image), 0) !== 0) return { error: "the engine cannot open it" }
    if (api.Recognize(null) !== 0) return { error: "the engine failed over it" }
    return { text: api.GetUTF8Text(), confidence: api.MeanTextConf() }
  }
}

function orientationOf(image: Buffer): number {
  const [, big, little] = orientationTag.exec(image.toString("latin1", 0, exifBytes)) ?? []
  return (big ?? little ?? "\x01").charCodeAt(0)
}

function say(answer: Answer): void {
  process.send?.(answer)
}
