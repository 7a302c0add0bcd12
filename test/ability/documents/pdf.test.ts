// PDF files through the gate: answers with page and lines, and files that are broken, locked or too much.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { pdfBomb, pdfCircle, pdfEncrypted, pdfNested, pdfOfPages, pdfSelfDrawing } from "../../fixture/pdf.ts"
import { repeat } from "../../fixture/soak.ts"
import { call, free, inProject } from "../tool/harness.ts"

async function add(folder: string, files: Record<string, Buffer>): Promise<string> {
  await loadToolGroups()
  mkdirSync(folder)
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes)
  const { status, text } = await call("rag_add", { folder }, { slots: free })
  assert.equal(status, "success", text)
  return text
}

async function search(query: string): Promise<string> {
  return (await call("rag_search", { query }, { slots: free })).text
}

test("rag_search finds text of PDF files with page and lines, also after an edit", () =>
  inProject(async (tmp) => {
    const docs = join(tmp.path, "docs")
    const cover = ["The lighthouse keeper", "A manual"]
    const text = await add(docs, {
      "keeper.pdf": pdfOfPages([cover, ["Chapter one.", "", "The lamp burns rapeseed oil (refined)."]]),
      "Upper.PDF": pdfOfPages([["Fog horns sound twice a minute."]]),
    })
    assert.match(text, /: 2 documents, 3 passages\.$/)
    assert.match(
      await search("Which oil does the lamp burn?"),
      /^docs\/keeper\.pdf, page 2, lines 1-\d \(keeper\)\nChapter one\.[\s\S]*rapeseed oil \(refined\)\./,
    )
    assert.match(await search("fog horns"), /^docs\/Upper\.PDF, page 1, line 1 /)
    writeFileSync(join(docs, "keeper.pdf"), pdfOfPages([cover, [], ["The lamp is electric now."]]))
    assert.match(await search("electric lamp"), /^docs\/keeper\.pdf, page 3, line 1 /)
  }))

test("PDF files that are broken, locked, circular or too deep are named, and the others are indexed", () =>
  inProject(async (tmp) => {
    const text = await add(join(tmp.path, "docs"), {
      "broken.pdf": Buffer.from("%PDF-1.7\nthis is none"),
      "circle.pdf": pdfCircle(),
      "cut.pdf": pdfOfPages([["Cut off."]]).subarray(0, 300),
      "deep.pdf": pdfNested(200_000),
      "empty.pdf": Buffer.alloc(0),
      "good.pdf": pdfOfPages([["The harbour freezes in January."]]),
      "locked.pdf": pdfEncrypted(),
      "self.pdf": pdfSelfDrawing(),
    })
    assert.match(text, /: 8 documents, 8 passages\./)
    assert.match(text, /^- broken\.pdf: it is not a valid PDF file \(Invalid PDF structure\)$/m)
    assert.match(text, /^- circle\.pdf: it is not a valid PDF file \(.*circular reference\)$/m)
    assert.match(text, /^- cut\.pdf: it is not a valid PDF file/m)
    assert.match(text, /^- deep\.pdf: it is not a valid PDF file/m)
    assert.match(text, /^- empty\.pdf: it is not a valid PDF file/m)
    assert.match(text, /^- locked\.pdf: it is encrypted, and reading it needs a password$/m)
    assert.match(text, /^- self\.pdf: it has no text; pictures of pages are not read$/m)
    assert.doesNotMatch(text, /good\.pdf/)
    assert.match(await search("when does the harbour freeze"), /^docs\/good\.pdf, page 1, line 1 /)
  }))

test("a PDF bomb and a PDF file with too many pages are bounded and named, and the others are indexed", () =>
  inProject(async (tmp) => {
    const pages = repeat(2_500, 100_000)
    const text = await add(join(tmp.path, "docs"), {
      "bomb.pdf": await pdfBomb(1_500),
      "many.pdf": pdfOfPages(Array.from({ length: pages }, (_, i) => [`Page ${i}`])),
      "small.pdf": pdfOfPages([["The harbour freezes in January."]]),
    })
    assert.match(text, /^- bomb\.pdf: reading it needs more than 600 MB$/m)
    assert.match(
      text,
      new RegExp(`^- many\\.pdf: only the first \\d+ of its ${pages} pages are indexed$`, "m"),
    )
    assert.match(await search("when does the harbour freeze"), /^docs\/small\.pdf, page 1, line 1 /)
  }))
