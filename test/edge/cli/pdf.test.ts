// PDF files through the installed command, with the package that reads them and without it.
import assert from "node:assert/strict"
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { pdfOfPages } from "../../fixture/pdf.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const asLibrarian = ["run", "--agent", "librarian", "--allow", "knowledge.write", "add docs"]

/** The folder `docs` with a PDF file and a note. */
function writeDocs(tmp: Tmp): void {
  tmp.write("docs/note.md", "Bees swarm in May.\n")
  writeFileSync(join(tmp.path, "docs/manual.pdf"), pdfOfPages([["Cover"], ["The lamp burns rapeseed oil."]]))
}

test("a librarian finds a page of a PDF file", async () => {
  await using tmp = await tmpdir({ git: true })
  writeDocs(tmp)
  await using llm = await fakeLlm([
    call("rag_add", { folder: "docs" }),
    call("rag_search", { query: "which oil does the lamp burn" }),
    text("Rapeseed oil."),
  ])
  const { variables } = env(llm, "chat")
  const { code, err } = await vitamin(tmp, asLibrarian, variables)
  assert.equal(code, 0, err)
  const [added, found] = llm.requests
    .at(-1)!
    .messages.flatMap(({ results }) => results.map((one) => one.text))
  assert.equal(added, "docs is added: 2 documents, 3 passages.")
  assert.match(found!, /^docs\/manual\.pdf, page 2, line 1 \(manual\)\nThe lamp burns rapeseed oil\./)
  assert.match((await vitamin(tmp, ["doctor"])).out, /^ok +PDF files +can be read \(unpdf\),/m)
})

test("without the package, rag_add names the PDF files and vitamin doctor says how to get it", async () => {
  await using tmp = await tmpdir({ git: true })
  writeDocs(tmp)
  await using llm = await fakeLlm([call("rag_add", { folder: "docs" }), text("Done.")])
  const program = copyProgram(join(tmp.path, "program"))
  const start = (args: string[]) =>
    run(process.execPath, [program, ...args], {
      cwd: tmp.path,
      env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
    })
  await using librarian = start(asLibrarian)
  librarian.process.stdin?.end()
  assert.equal(await librarian.exit, 0, librarian.errors())
  assert.match(
    llm.requests.at(-1)!.messages.flatMap(({ results }) => results.map((one) => one.text))[0]!,
    /: 2 documents, 2 passages\.\nNot or only partly indexed:\n- 1 PDF file: unpdf is not installed; vitamin doctor says how to get it$/,
  )
  await using doctor = start(["doctor"])
  await doctor.exit
  assert.match(
    doctor.lines.join("\n"),
    /^note +PDF files +are not indexed; not installed: unpdf\n +→ npm install --prefix \S+\/pdf unpdf@/m,
  )
})

/** The program with only the packages that are installed with it. */
function copyProgram(folder: string): string {
  const root = dirname(dirname(command))
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true })
  cpSync(join(root, "package.json"), join(folder, "package.json"))
  mkdirSync(join(folder, "node_modules"))
  for (const name of ["@vscode", "ripgrep"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
  return join(folder, "dist/vitamin.js")
}
