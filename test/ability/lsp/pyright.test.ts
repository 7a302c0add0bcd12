// Pyright, a language server for Python that runs on Node.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { call, install, inTrusted, replace } from "./harness.ts"

const program = fileURLToPath(import.meta.resolve("pyright/langserver.index.js"))

test("an edit returns what pyright finds in the file and in a file that imports it", () =>
  inTrusted(
    (tmp) => {
      install(tmp)
      symlinkSync(program, join(tmp.path, "node_modules/.bin/pyright-langserver"))
      tmp.write("price.py", "price: int = 1\n")
      tmp.write("total.py", "from price import price\n\ntotal: int = price * 2\n")
    },
    async () => {
      const broken = await replace("price.py", "price: int = 1", "price: None = 1")
      const lines = broken.text.split("\n")
      assert.equal(lines[0], "price.py edited (+1 -1).")
      assert.match(broken.text, /^price\.py:1:15 error reportAssignmentType: .*"None"/m)
      assert.match(broken.text, /^total\.py:3:14 error reportOperatorIssue: .*"None"/m)
      const mended = await replace("price.py", "price: None = 1", "price: int = 2")
      assert.equal(mended.text, "price.py edited (+1 -1).")
      const found = await call("references", { path: "price.py", line: 1, symbol: "price" })
      assert.match(found.text, /^total\.py:1:19 from price import price$/m)
    },
    { lsp: { wait: 60_000 } },
  ))
