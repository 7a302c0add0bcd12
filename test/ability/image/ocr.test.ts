// OCR with the real engine on real images, without network. An idle engine is ended.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { imageFormat } from "#ability/image/image-format.ts"
import { detectLanguage } from "#ability/image/language.ts"
import { createOcr, type Ocr } from "#ability/image/ocr.ts"
import { runFixture } from "../../fixture/child.ts"
import { distance, image, type Name, noteText, pageText } from "../../fixture/images.ts"
import { png } from "../../fixture/png.ts"
import { until } from "../../fixture/until.ts"

const never = new AbortController().signal
const load = async (bytes: Buffer) => ({ bytes, format: await imageFormat(bytes) })
const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim().replace(/\s+/g, " "))
    .filter(Boolean)
    .join("\n")

async function withOcr(
  timing: Parameters<typeof createOcr>[0],
  fn: (ocr: Ocr) => Promise<void>,
): Promise<void> {
  const ocr = createOcr(timing)
  try {
    await fn(ocr)
  } finally {
    await ocr.dispose()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!
  return toMB(Number(kilobytes) * 1024)
}

function toMB(bytes: number): number {
  return Math.round(bytes / 1e6)
}

test("Ocr reads PNG, JPEG, WebP and GIF, and leaves nothing in the folder that we are in", async () => {
  const before = readdirSync(process.cwd())
  await withOcr({}, async (ocr) => {
    for (const name of ["note.png", "note.jpg", "note.webp", "note.gif", "moving.gif"] satisfies Name[]) {
      const { text, confidence } = await ocr.read(await load(image(name)), never)
      assert.equal(linesOf(text), noteText, name)
      assert.ok(confidence > 80 && confidence <= 100, `${name} ${confidence}`)
    }
    assert.equal((await ocr.read(await load(png({ width: 300, height: 100 })), never)).text, "")
  })
  assert.deepEqual(readdirSync(process.cwd()), before)
})

test("Ocr turns a JPEG upright as its EXIF tag says, in both byte orders", async () => {
  const jpeg = image("note.jpg")
  const entry = (isBig: boolean, orientation: number) => {
    const tiff = Buffer.alloc(26)
    tiff.write(isBig ? "MM" : "II", "latin1")
    const [short, long] = isBig
      ? [tiff.writeUInt16BE.bind(tiff), tiff.writeUInt32BE.bind(tiff)]
      : [tiff.writeUInt16LE.bind(tiff), tiff.writeUInt32LE.bind(tiff)]
    short(42, 2)
    long(8, 4)
    short(1, 8)
    short(0x0112, 10)
    short(3, 12)
    long(1, 14)
    short(orientation, 18)
    return tiff
  }
  const withExif = (tiff: Buffer) => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(tiff.length + 8)
    const segment = [Buffer.from([0xff, 0xe1]), length, Buffer.from("Exif\0\0"), tiff]
    return Buffer.concat([jpeg.subarray(0, 2), ...segment, jpeg.subarray(2)])
  }
  await withOcr({}, async (ocr) => {
    for (const isBig of [true, false]) {
      const upright = await ocr.read(await load(withExif(entry(isBig, 1))), never)
      assert.equal(linesOf(upright.text), noteText)
      const turned = await ocr.read(await load(withExif(entry(isBig, 3))), never)
      assert.doesNotMatch(turned.text, /Invoice|green tea/)
    }
  })
})

test("Ocr gets at least 98 % of the characters of forty lines right, and detectLanguage() knows their language", async (t) => {
  await withOcr({}, async (ocr) => {
    const { text } = await ocr.read(await load(image("page.png")), never)
    const wanted = linesOf(pageText)
    const right = 1 - distance(wanted, linesOf(text)) / wanted.length
    t.diagnostic(`${(right * 100).toFixed(2)} % of ${wanted.length} characters`)
    assert.ok(right >= 0.98, `only ${right}`)
    assert.equal(await detectLanguage(text), "en")
  })
})

test("Ocr ends its engine when no image comes for a while, which gives all its memory back, and starts another", async (t) => {
  await withOcr({ idle: 50 }, async (ocr) => {
    const note = await load(image("note.png"))
    const before = process.memoryUsage.rss()
    await ocr.read(note, never)
    const first = ocr.pid()!
    t.diagnostic(
      `the engine has ${memoryOf(first)} MB, we have ${toMB(process.memoryUsage.rss() - before)} more`,
    )
    await until(() => !isAlive(first), "the end of the engine")
    assert.equal(ocr.pid(), undefined)
    assert.equal(linesOf((await ocr.read(note, never)).text), noteText)
    assert.notEqual(ocr.pid(), first)
  })
})

test("Ocr keeps its engine between images, and starts another if it dies", async () => {
  await withOcr({}, async (ocr) => {
    const note = await load(image("note.png"))
    await ocr.read(note, never)
    const first = ocr.pid()!
    await ocr.read(note, never)
    assert.equal(ocr.pid(), first)
    process.kill(first, "SIGKILL")
    await until(() => ocr.pid() === undefined, "the end of the engine")
    assert.equal(linesOf((await ocr.read(note, never)).text), noteText)
  })
})

test("Ocr reports an error for an image during which the engine dies", async () => {
  await withOcr({}, async (ocr) => {
    await ocr.read(await load(image("note.png")), never)
    const reading = ocr.read(await load(image("page.png")), never)
    process.kill(ocr.pid()!, "SIGKILL")
    await assert.rejects(reading, { name: "Ocr.Failed", message: /the engine ended/ })
  })
})

test("Ocr ends an image that takes too long, and reads the next one", async () => {
  const page = await load(image("page.png"))
  await withOcr({ limit: 1 }, async (ocr) => {
    await assert.rejects(ocr.read(page, never), { name: "Ocr.Failed", message: /longer than 0.001 s/ })
    assert.equal(ocr.pid(), undefined)
  })
  await withOcr({}, async (ocr) => {
    const abort = new AbortController()
    const first = ocr.read(page, abort.signal)
    const second = ocr.read(await load(image("note.png")), never)
    abort.abort(new Error("enough"))
    await assert.rejects(first, /enough/)
    assert.equal(linesOf((await second).text), noteText)
  })
})

test("Ocr lets a waiting caller abort", async () => {
  await withOcr({}, async (ocr) => {
    const page = await load(image("page.png"))
    const abort = new AbortController()
    let isFirstDone = false
    const first = ocr.read(page, never).then(() => {
      isFirstDone = true
    })
    const second = ocr.read(page, abort.signal)
    const third = ocr.read(await load(image("note.png")), never)
    abort.abort(new Error("enough"))
    await assert.rejects(second, /enough/)
    assert.equal(isFirstDone, false)
    await first
    assert.equal(linesOf((await third).text), noteText)
  })
})

test("Ocr reports an image that it cannot open, and reads the next one", async () => {
  await withOcr({}, async (ocr) => {
    await assert.rejects(ocr.read(await load(image("moving.webp")), never), {
      name: "Ocr.Failed",
      message: /animated WebP.*PNG/,
    })
    await assert.rejects(ocr.read(await load(png({ width: 6_000, height: 6_000 })), never), {
      name: "Ocr.Failed",
      message: /6000 × 6000 pixels.*34 million/,
    })
    const bytes = image("note.webp")
    const broken = Buffer.from(bytes).fill(0x55, 30)
    const format = await imageFormat(bytes)
    await assert.rejects(ocr.read({ bytes: broken, format }, never), {
      name: "Ocr.Failed",
      message: /cannot open the image/,
    })
    assert.equal(linesOf((await ocr.read({ bytes, format }, never)).text), noteText)
  })
})

test("an idle engine does not keep the program from exiting, and does not outlive a killed program", async () => {
  await using done = runFixture("ocr-holder.ts")
  const first = Number(await done.line(/^\d+$/))
  assert.equal(await done.exit, 0)
  await until(() => !isAlive(first), "the end of the engine")
  await using killed = runFixture("ocr-holder.ts", { args: ["stay"] })
  const second = Number(await killed.line(/^\d+$/))
  killed.process.kill("SIGKILL")
  await until(() => !isAlive(second), "the end of the engine")
})

test("detectLanguage() distinguishes languages, and returns undefined for short texts", async () => {
  assert.equal(await detectLanguage("Die Rechnung ist bis zum Ende des Monats zu bezahlen."), "de")
  assert.equal(await detectLanguage("La facture doit être payée avant la fin du mois."), "fr")
  assert.equal(await detectLanguage("48.50"), undefined)
  assert.equal(await detectLanguage(""), undefined)
})
