import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { createPdfReader } from "#knowledge/documents/pdf-reader.ts"
import { hasProcess } from "#util/process.ts"
import { pdfOfPages } from "../../fixture/pdf.ts"
import { until } from "../../fixture/until.ts"

/** The processes that this one has started. */
function children(): number[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
  return text.split(" ").filter(Boolean).map(Number)
}

test("a PDF reader whose process was killed between two files starts another one", {
  timeout: 120_000,
}, async () => {
  const reader = createPdfReader()
  const read = async (line: string) => JSON.stringify(await reader.read(pdfOfPages([[line]])))
  try {
    assert.match(await read("The first file."), /The first file\./)
    const [pid] = children()
    process.kill(pid!, "SIGKILL")
    await until(() => !hasProcess(pid!), "the process ends")
    assert.match(await read("The second file."), /The second file\./)
  } finally {
    reader.close()
  }
})
