// Language servers as people install them: those of npm and PATH that are found without configuration. TypeScript 7 and pyright
// have files of their own.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as LateDiagnostics from "#ability/lsp/late-diagnostics.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { call, installTools, inTrusted, noTools, program, replace, typeScriptProject } from "./harness.ts"

const patient = { lsp: { wait: 60_000 } }

test(
  "an edit returns what typescript-language-server finds in a project with TypeScript 5",
  {
    skip: noTools,
  },
  () =>
    inTrusted(
      (tmp) => {
        typeScriptProject(tmp, { version: 5 })
      },
      async () => {
        const broken = await replace("src/price.ts", "price: number = 1", "price: string = 1")
        assert.match(broken.text, /^src\/price\.ts:1:14 error 2322: /m)
        assert.match(broken.text, /^src\/total\.ts:3:30 error 2362: /m)
        const mended = await replace("src/price.ts", "price: string = 1", "price: number = 2")
        assert.equal(mended.text, "src/price.ts edited (+1 -1).")
        const place = { path: "src/total.ts", line: 3, symbol: "price" }
        assert.equal(
          (await call("definition", place)).text,
          "src/price.ts:1:14 export const price: number = 2",
        )
        const asked = await call("rename", { ...place, newName: "cost" })
        assert.match(asked.text, /changes 3 places in 2 files/)
      },
      patient,
    ),
)

test(
  "an edit returns what bash-language-server and shellcheck find",
  {
    skip: noTools || program("shellcheck").missing,
  },
  () =>
    inTrusted(
      (tmp) => {
        installTools(tmp, "bash-language-server")
        tmp.write("run.sh", '#!/bin/bash\nname=$1\necho "$name"\n')
      },
      async () => {
        const broken = await replace("run.sh", 'echo "$name"', 'cd "$name"')
        assert.equal(
          broken.text,
          "run.sh edited (+1 -1).\nNew diagnostics:\nrun.sh:3:1 warning SC2164: Use 'cd ... || exit' or 'cd ... || return' in case cd fails.",
        )
        const mended = await replace("run.sh", 'cd "$name"', 'cd "$name" || exit')
        assert.equal(mended.text, "run.sh edited (+1 -1).")
      },
      patient,
    ),
)

test(
  "an edit of a header returns what clangd finds in a file that includes it",
  {
    skip: program("clangd").missing,
  },
  () =>
    inTrusted(
      (tmp) => {
        tmp.write("compile_flags.txt", "-std=c11\n-Wall\n")
        tmp.write("src/price.h", "int price(void);\n")
        tmp.write("src/total.c", '#include "price.h"\n\nint total(void) { return price() * 2; }\n')
      },
      async () => {
        // clangd reads headers from the disk: it must know the including file before the edit that breaks it.
        await replace("src/price.h", "int price(void);", "int price(void); // in cents")
        const broken = await replace("src/price.h", "int price(void)", "void price(void)")
        const texts = [broken.text]
        await until(() => /total\.c/.test(texts.join()) || texts.push(...LateDiagnostics.take("ses_1")) < 0)
        assert.match(
          texts.join("\n"),
          /^src\/total\.c:3:34 error \S+: Invalid operands to binary expression/m,
        )
        const mended = await replace("src/price.h", "void price(void)", "int price(void)")
        assert.equal(mended.text, "src/price.h edited (+1 -1).")
        const found = await call("references", { path: "src/price.h", line: 1, symbol: "price" })
        assert.match(found.text, /^src\/total\.c:3:26 /m)
      },
      patient,
    ),
)

test(
  "an edit returns what gopls finds in the file and in another file of its package",
  {
    skip: program("gopls").missing || program("go").missing,
  },
  () =>
    inTrusted(
      (tmp) => {
        tmp.write("go.mod", "module example.com/shop\n\ngo 1.19\n")
        tmp.write("price.go", "package shop\n\nvar Price int = 1\n")
        tmp.write("total.go", "package shop\n\nfunc Total() int { return Price * 2 }\n")
      },
      async () => {
        const broken = await replace("price.go", "var Price int = 1", "var Price string = 1")
        assert.match(broken.text, /^price\.go:3:\d+ error /m)
        assert.match(broken.text, /^total\.go:3:\d+ error /m)
        const mended = await replace("price.go", "var Price string = 1", "var Price int = 2")
        assert.equal(mended.text, "price.go edited (+1 -1).")
      },
      patient,
    ),
)

test("an edit returns what rust-analyzer finds", { skip: program("rust-analyzer").missing }, () =>
  inTrusted(
    (tmp: Tmp) => {
      tmp.write("Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n')
      tmp.write("src/lib.rs", "pub fn price() -> i32 {\n    1\n}\n")
    },
    async () => {
      const broken = await replace("src/lib.rs", "    1\n", "    missing()\n")
      assert.match(broken.text, /^src\/lib\.rs:2:\d+ error /m)
    },
    patient,
  ),
)
