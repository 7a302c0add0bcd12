// The read tool through the gate: ranges, encodings, sizes, and files that are not text.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { appendFileSync, readdirSync, readlinkSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { until } from "../../../fixture/until.ts"
import { call, inProject } from "../harness.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void
const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n")
const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()

test("read gives the lines of a range, numbered", async () => {
  await inProject(async (tmp) => {
    tmp.write("src/app.ts", lines(100))
    const result = await call("read", { path: "src/app.ts", startLine: 1, endLine: 50 })
    assert.equal(result.status, "success")
    assert.equal(result.text, lines(50).replaceAll(/^line (\d+)$/gm, "$1\tline $1"))
    assert.equal(result.title, "src/app.ts:1-50")
    assert.partialDeepStrictEqual(result.data, {
      path: "src/app.ts",
      startLine: 1,
      endLine: 50,
      totalLines: 100,
    })
    const tail = await call("read", { path: "src/app.ts", startLine: 99 })
    assert.equal(tail.text, "99\tline 99\n100\tline 100")
    const over = await call("read", { path: "src/app.ts", startLine: 99, endLine: 500 })
    assert.equal(over.text, "99\tline 99\n100\tline 100")
  })
})

test("read accepts an absolute path, and shows no empty line after the last newline", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("a.txt", "one\ntwo\n")
    assert.equal((await call("read", { path })).text, "1\tone\n2\ttwo")
    tmp.write("b.txt", "\n\n")
    assert.equal((await call("read", { path: "b.txt" })).text, "1\t\n2\t")
  })
})

test("read shows 2 000 lines by default and says how to read on", async () => {
  await inProject(async (tmp) => {
    tmp.write("long.txt", lines(2_500))
    const first = await call("read", { path: "long.txt" })
    assert.match(first.text, /\n2000\tline 2000\n\[2500 lines in all; go on with startLine 2001\]$/)
    const rest = await call("read", { path: "long.txt", startLine: 2_001 })
    assert.match(rest.text, /^2001\tline 2001\n.*\n2500\tline 2500$/s)
    const more = await call("read", { path: "long.txt", startLine: 1, endLine: 2_400 })
    assert.match(more.text, /\n2400\tline 2400$/)
  })
})

test("read stays below 50 KB whatever the lines are, and never spills", async () => {
  await inProject(async (tmp) => {
    tmp.write("wide.txt", `${"€".repeat(1_500)}\n`.repeat(100))
    const { text } = await call("read", { path: "wide.txt", startLine: 1, endLine: 100 })
    assert.ok(Buffer.byteLength(text) <= 50_000)
    assert.match(text, /\[100 lines in all; go on with startLine 11\]$/)
  })
})

test("read cuts long lines and says how long they are", async () => {
  await inProject(async (tmp) => {
    tmp.write("min.js", `${"x".repeat(5_000)}\nshort\n${"😀".repeat(9_000)}`)
    const { text } = await call("read", { path: "min.js" })
    const [long, short, wide] = text.split("\n") as [string, string, string]
    assert.equal(long, `1\t${"x".repeat(2_000)}… [line cut, 5000 bytes]`)
    assert.equal(short, "2\tshort")
    assert.equal(wide, `3\t${"😀".repeat(1_000)}… [line cut, 36000 bytes]`)
  })
})

test("read of a file of gigabytes uses little memory and stops at endLine", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("huge.log", `${lines(1_000)}\n`)
    const start = statSync(path).size
    truncateSync(path, 1.2e9)
    appendFileSync(path, "\nlast")
    const top = await call("read", { path, startLine: 1, endLine: 2 })
    assert.equal(top.text, "1\tline 1\n2\tline 2")
    const before = held()
    let most = 0
    const look = setInterval(() => {
      most = Math.max(most, held())
    }, 500)
    const zeros = await call("read", { path, startLine: 1_001 })
    clearInterval(look)
    most = Math.max(most, held())
    assert.match(zeros.text, new RegExp(`^1001\\t\\0+… \\[line cut, ${1.2e9 - start} bytes\\]\n1002\\tlast$`))
    assert.ok(most - before < 10e6, `${most - before} bytes more are held`)
  })
})

test("read of a file that is too long to count its lines says its size", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("big.log", "")
    for (let i = 0; i < 40; i++) appendFileSync(path, "some line of a log\n".repeat(55_000))
    const { text, data } = await call("read", { path })
    assert.match(text, /\n\[a file of 41800000 bytes; go on with startLine 2001\]$/)
    assert.equal("totalLines" in (data as object), false)
  })
})

const encodings: [name: string, content: Buffer, text: string][] = [
  ["UTF-8", Buffer.from("é €\n"), "1\té €"],
  ["a UTF-8 byte order mark", Buffer.from("\ufeffé\n"), "1\té"],
  ["UTF-16LE", Buffer.from("\ufeffé €\nzwei", "utf16le"), "1\té €\n2\tzwei\n[the file is UTF-16LE]"],
  ["UTF-16BE", utf16be("é €\nzwei"), "1\té €\n2\tzwei\n[the file is UTF-16BE]"],
  ["latin-1", Buffer.from("caf\xe9\nd\xfcnn", "latin1"), "1\tcafé\n2\tdünn"],
  ["one bad byte among UTF-8", Buffer.concat([Buffer.from("€\n"), Buffer.from([0xe9])]), "1\t€\n2\té"],
  ["CRLF", Buffer.from("a\r\nb\r\n"), "1\ta\n2\tb\n[lines end with CRLF]"],
  ["no line end", Buffer.from("x"), "1\tx"],
]
for (const [name, content, text] of encodings)
  test(`read shows ${name} as text`, async () => {
    await inProject(async (tmp) => {
      tmp.write("file", content)
      assert.equal((await call("read", { path: "file" })).text, text)
    })
  })

test("read keeps characters whole across its chunks", async () => {
  await inProject(async (tmp) => {
    for (const [name, content] of [
      ["8", Buffer.from(`a${"€\n".repeat(50_000)}`)],
      ["16", Buffer.from(`\ufeffa${"😀\n".repeat(50_000)}`, "utf16le")],
    ] as const) {
      tmp.write(name, content)
      for (let start = 1; start < 50_000; start += 2_000) {
        const { text } = await call("read", { path: name, startLine: start })
        assert.doesNotMatch(text, /[^\d\t\n€😀a[\]\w ;-]/u)
      }
    }
  })
})

const png = Buffer.alloc(40)
png.write("\x89PNG\r\n\x1a\n", "latin1")
png.writeUInt32BE(640, 16)
png.writeUInt32BE(480, 20)
const binaries: [name: string, content: Buffer, text: RegExp, data: object][] = [
  [
    "logo.txt",
    png,
    /^logo\.txt is not text: PNG image, 640 × 480 pixels, 40 bytes/,
    { mimeType: "image/png", bytes: 40, width: 640, height: 480 },
  ],
  ["a.jpg", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0]), /JPEG image/, { mimeType: "image/jpeg", bytes: 5 }],
  ["a.pdf", Buffer.from("%PDF-1.7\n…"), /PDF document/, { mimeType: "application/pdf", bytes: 12 }],
  ["a.bin", Buffer.from("ab\0cd"), /binary file/, { mimeType: "application/octet-stream", bytes: 5 }],
  [
    "a.dat",
    Buffer.from("\x01\x02\x03\x04ab"),
    /binary file/,
    { mimeType: "application/octet-stream", bytes: 6 },
  ],
]
for (const [name, content, text, data] of binaries)
  test(`read describes ${name} by its content and does not dump it`, async () => {
    await inProject(async (tmp) => {
      tmp.write(name, content)
      const result = await call("read", { path: name })
      assert.equal(result.status, "success")
      assert.match(result.text, text)
      assert.match(result.text, /Its content is not shown\.$/)
      assert.partialDeepStrictEqual(result.data, data)
    })
  })

test("read does not take a text for a picture because of its first letters", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "BMW and ID3 are names\n")
    assert.equal((await call("read", { path: "a.txt" })).text, "1\tBMW and ID3 are names")
  })
})

const refusals: [args: { path: string; startLine?: number; endLine?: number }, text: RegExp][] = [
  [{ path: "src/ap.ts" }, /^"src\/ap\.ts" does not exist\. Did you mean "src\/app\.ts"/],
  [{ path: "sr/app.ts" }, /^"sr\/app\.ts" does not exist\. Did you mean "src"\?$/],
  [{ path: "qqqqqq.json" }, /does not exist\. "\." exists; use ls to see what is in it\.$/],
  [{ path: "src" }, /^"src" is a folder\. Use ls/],
  [{ path: "src/app.ts", startLine: 9 }, /has 3 lines; startLine 9 is after its end/],
  [{ path: "src/app.ts", startLine: 3, endLine: 2 }, /- endLine: expected endLine to be at least startLine/],
  [{ path: "src/app.ts", startLine: 0 }, /- startLine: Too small: expected number to be >=1, received 0/],
  [{ path: "" }, /- path: Too small/],
  [{ path: "a\0b" }, /NUL/],
  [{ path: "pipe" }, /named pipe/],
  [{ path: "/proc/1/mem" }, /outside of the workspace/],
  [{ path: "~/x" }, /^"~\/x" does not exist/],
  [{ path: "src/app.ts/x" }, /ENOTDIR|not a directory/i],
]
for (const [args, text] of refusals)
  test(`read answers ${JSON.stringify(args)} with what is wrong`, async () => {
    await inProject(async (tmp) => {
      tmp.write("src/app.ts", "a\nb\nc\n")
      execFileSync("mkfifo", [join(tmp.path, "pipe")])
      const result = await call("read", args)
      assert.equal(result.status, "error")
      assert.match(result.text, text)
      assert.equal(result.error?.recoverable, true)
    })
  })

test("read says that a file is empty", async () => {
  await inProject(async (tmp) => {
    tmp.write("empty", "")
    assert.equal((await call("read", { path: "empty" })).text, "(empty file)")
  })
})

test("read stops on abort while it skips a large part of a file", async () => {
  await inProject(async (tmp) => {
    const path = tmp.write("huge.log", `${lines(1_000)}\n`)
    truncateSync(path, 1e12)
    const stop = new AbortController()
    const pending = call("read", { path, startLine: 1_001 }, { signal: stop.signal })
    await until(() => isOpen(path), "the file is open")
    stop.abort()
    assert.equal((await pending).status, "interrupted")
    await until(() => !isOpen(path), "the file is closed")
  })
})

/** Bytes that something still refers to. */
function held(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function isOpen(path: string): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  })
}
