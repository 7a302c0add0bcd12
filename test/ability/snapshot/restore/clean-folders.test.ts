import assert from "node:assert/strict"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { cleanFolders } from "#ability/snapshot/restore/open-folder.ts"
import type { Pending } from "#ability/snapshot/store/session-log.ts"
import { get } from "#ability/snapshot/store/shadow.ts"
import { inProject } from "../harness.ts"

test("cleanFolders() leaves no folder open, even if it does not exist", () =>
  inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "a/b"), { recursive: true })
    const files = ["a/b/one.txt", "two.txt", "missing/three.txt"].map((path) => ({ path }))
    const pending = { part: { files } } as unknown as Pending
    const shadow = get()
    const open = () => readdirSync("/proc/self/fd").length
    const before = open()
    for (let i = 0; i < 50; i++) cleanFolders(shadow, pending)
    assert.equal(open(), before)
  }))
