// hashText() is SHA-256, as node:crypto computes it.
import assert from "node:assert/strict"
import { createHash, randomBytes } from "node:crypto"
import { test } from "node:test"
import { hashText } from "#util/hash-text.ts"

test("hashText() equals SHA-256 of node:crypto for texts of every length up to three blocks", () => {
  for (let length = 0; length <= 200; length++) {
    const text = randomBytes(length).toString("latin1").slice(0, length)
    assert.equal(hashText(text), createHash("sha256").update(text).digest("hex"), `${length} characters`)
  }
})

test("hashText() hashes the UTF-8 form of a text", () => {
  for (const text of ["", "/home/käthe/プロジェクト", "🍎".repeat(1_000)])
    assert.equal(hashText(text), createHash("sha256").update(text).digest("hex"))
})
