// The memory through the gate: files that people can edit, found by meaning, forgotten on request, never a secret.
import assert from "node:assert/strict"
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

function inMemory(fn: (tmp: Tmp, folder: string) => Promise<void>) {
  return inProject(async (tmp) => {
    await loadToolGroups()
    await fn(tmp, join(Global.data(), "memory", Instance.project.id))
  })
}

const slots = free

test("an entry is a Markdown file with name, date, kind and session, and is found by meaning", () =>
  inMemory(async (_, folder) => {
    const saved = await call(
      "memory_save",
      { text: "Releases leave on Tuesdays.", kind: "decision" },
      { slots },
    )
    assert.match(saved.text, /^Recorded as releases-leave-on-tuesdays \(decision, \d{4}-\d\d-\d\d\)\.$/)
    assert.match(
      readFileSync(join(folder, "releases-leave-on-tuesdays.md"), "utf8"),
      /^---\nname: releases-leave-on-tuesdays\ndate: \d{4}-\d\d-\d\d\nkind: decision\nsession: ses_1\n---\n\nReleases leave on Tuesdays\.\n$/,
    )
    await call("memory_save", { text: "The cat is called Momo.", everywhere: true }, { slots })
    const found = await call("memory_search", { query: "on which weekday do we release?" })
    assert.match(found.text, /^releases-leave-on-tuesdays \(decision, .*\)\nReleases leave on Tuesdays\./)
    assert.match(
      (await call("memory_search", { query: "name of the cat" })).text,
      /momo \(fact, .*, all projects\)/,
    )
    assert.match(
      (await call("memory_list", {})).text,
      /releases-leave.*: Releases leave on Tuesdays\.\n.*Momo/,
    )
  }))

test("an entry that a person edits or adds is found as it is now", () =>
  inMemory(async (_, folder) => {
    await call("memory_save", { text: "The office plant is a fern.", name: "plant" }, { slots })
    await call("memory_search", { query: "plant" })
    appendFileSync(join(folder, "plant.md"), "\nIt needs water on Mondays.\n")
    writeFileSync(join(folder, "coffee.md"), "Coffee beans are bought from the roastery.\n")
    assert.match(
      (await call("memory_search", { query: "water on Mondays" })).text,
      /^plant .*\n[\s\S]*It needs water/,
    )
    assert.match((await call("memory_search", { query: "roastery" })).text, /^coffee \(note, /)
  }))

test("a forgotten entry is gone from the folder and from the index", () =>
  inMemory(async (_, folder) => {
    await call("memory_save", { text: "The gate code is on the blackboard.", name: "gate" }, { slots })
    await call("memory_search", { query: "blackboard" })
    assert.match(
      (await call("memory_forget", { name: "gat" }, { slots })).text,
      /No entry is named "gat"\. Did you mean "gate"\?/,
    )
    assert.equal((await call("memory_forget", { name: "gate" }, { slots })).text, "gate is forgotten.")
    assert.ok(!existsSync(join(folder, "gate.md")))
    assert.equal(
      (await call("memory_search", { query: "blackboard" })).text,
      "Nothing is remembered about that.",
    )
    await Instance.disposeAll()
    for (const file of globSync("documents/*.db", { cwd: Global.cache() }))
      assert.ok(!readFileSync(join(Global.cache(), file)).includes("blackboard"), file)
  }))

test("a name leads to no file outside of the memory", () =>
  inMemory(async (tmp, folder) => {
    const outside = tmp.write("important.md", "stays")
    for (const name of ["../important", outside.slice(0, -3), ".."])
      assert.equal((await call("memory_forget", { name }, { slots })).status, "error")
    assert.ok(existsSync(outside))
    const saved = await call("memory_save", { text: "x y", name: "../../../evil" }, { slots })
    assert.match(saved.text, /Recorded as evil /)
    assert.ok(existsSync(join(folder, "evil.md")))
  }))

test("memory_export writes everything into one file", () =>
  inMemory(async (tmp) => {
    await call("memory_save", { text: "One.", name: "one" }, { slots })
    await call("memory_save", { text: "Two.", name: "two", everywhere: true }, { slots })
    assert.match(
      (await call("memory_export", { path: "out.md" }, { slots })).text,
      /^2 entries are in out\.md\.$/,
    )
    assert.match(
      readFileSync(join(tmp.path, "out.md"), "utf8"),
      /^# Memory\n\n## one \(fact, .*\)\n\nOne\.\n\n## two \(fact, .*all projects\)\n\nTwo\.\n$/,
    )
  }))

test("a conclusion covers the observations that it follows from", () =>
  inMemory(async () => {
    await call("observe_note", { text: "The build took nine minutes.", about: "build" }, { slots })
    await call("observe_note", { text: "The build took ten minutes.", about: "build" }, { slots })
    assert.match(
      (await call("reflect_summarize", {})).text,
      /^build \(.*nine minutes\.\nbuild-2 \(.*ten minutes\.$/,
    )
    const done = await call(
      "reflect_summarize",
      { conclusion: "Builds are slow.", from: ["build"] },
      { slots },
    )
    assert.match(done.text, /^Recorded as builds-are-slow \(conclusion, /)
    assert.match((await call("reflect_summarize", {})).text, /^build-2 /)
  }))

test("a conclusion changes one line of the notes that it covers, and no other byte", () =>
  inMemory(async (_, folder) => {
    await call("observe_note", { text: "Rain.", about: "own" }, { slots })
    const body = `\n# Räin\n\n---\nconcluded: not this\n\n${"It rained. ".repeat(5_000)}\n\n`
    const before = {
      windows: `\ufeff---\r\nkind: observation\r\ntags: [a, b]\r\nowner: Ada # me\r\n---\r\n${body}`,
      again: `---\nconcluded: "old"\ntags:\n  - x\nkind: observation\n---\n${body}`,
      empty: `---\n---\n${body}`,
      plain: body,
    }
    for (const [name, text] of Object.entries(before)) writeFileSync(join(folder, `${name}.md`), text)
    const from = ["own", ...Object.keys(before)]
    const done = await call("reflect_summarize", { conclusion: "Wäter falls.", from }, { slots })
    assert.equal(done.status, "success", done.text)
    const line = 'concluded: "wäter-falls"'
    const now = (name: string) => readFileSync(join(folder, `${name}.md`), "utf8")
    assert.match(
      now("own"),
      /^---\nname: own\n.*\nkind: observation\nsession: ses_1\nconcluded: "wäter-falls"\n---\n\nRain\.\n$/,
    )
    assert.equal(now("windows"), before.windows.replace("me\r\n", `me\r\n${line}\r\n`))
    assert.equal(now("again"), before.again.replace('concluded: "old"', line))
    assert.equal(now("empty"), before.empty.replace("---\n---", `---\n${line}\n---`))
    assert.match(
      now("plain").slice(0, -body.length),
      /^---\ndate: \d{4}-\d\d-\d\d\nconcluded: "wäter-falls"\n---\n\n$/,
    )
    assert.ok(now("plain").endsWith(body))
    assert.equal((await call("reflect_summarize", {})).text, "There are no open observations.")
  }))

test("a note that is too large or has unusual front matter is named, and nothing is recorded or changed", () =>
  inMemory(async (_, folder) => {
    await call("observe_note", { text: "Rain.", about: "own" }, { slots })
    const notes = {
      large: `---\nkind: observation\n---\n${"It rained. ".repeat(10_000)}the end\n`,
      broken: "---\nkind: [observation\n---\nIt rained.\n",
      unclosed: "---\nkind: observation\nIt rained.\n",
      flow: "---\n{ kind: observation, tags: [a] }\n---\nIt rained.\n",
      list: "---\n- a\n---\nIt rained.\n",
      block: "---\nconcluded: |\n  old\n---\nIt rained.\n",
    }
    for (const [name, text] of Object.entries(notes)) writeFileSync(join(folder, `${name}.md`), text)
    const files = () =>
      Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]))
    const before = files()
    for (const name of Object.keys(notes)) {
      const args = { conclusion: "Water falls.", from: ["own", name] }
      const { status, text } = await call("reflect_summarize", args, { slots })
      assert.equal(status, "error", name)
      assert.ok(text.includes(`${name}.md is not changed: `), text)
      assert.deepEqual(files(), before)
    }
  }))

test("a new entry does not go through a link that has its name", () =>
  inMemory(async (tmp, folder) => {
    const outside = tmp.write("important.md", "stays")
    mkdirSync(folder, { recursive: true })
    symlinkSync(outside, join(folder, "plant.md"))
    const saved = await call("memory_save", { text: "A fern.", name: "plant" }, { slots })
    assert.match(saved.text, /^Recorded as plant-2 /)
    assert.equal(readFileSync(outside, "utf8"), "stays")
  }))

test("no secret is recorded: known values, forms of tokens, values after names of credentials", () =>
  inMemory(async () => {
    Secret.register("canary-known-77aa", "known key")
    const canaries = [
      "it is canary-known-77aa",
      "API_KEY=canary1234",
      "the password is canary-Xy12!",
      'db_password: "canary_55"',
      `token ghp_${"canary0123".repeat(3)}`,
      `key sk-proj-${"canary0123".repeat(3)}`,
      "postgres://admin:canary99@db/x",
      "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary",
      "AKIACANARY0123456789",
      "eyJjYW5hcnkiOjF9x.eyJjYW5hcnkiOjF9x.canary",
    ]
    for (const text of canaries)
      for (const [tool, args] of [
        ["memory_save", { text }],
        ["memory_save", { text: "fine", name: text }],
        ["observe_note", { text }],
        ["reflect_summarize", { conclusion: text }],
        ["save_knowledge", { fact: text, source: "me" }],
        ["save_knowledge", { fact: "fine", source: text }],
      ] as const) {
        const result = await call(tool, args, { slots })
        assert.equal(result.status, "error", `${tool} ${text}`)
        assert.match(result.text, /Secrets are never recorded/)
      }
    assert.deepEqual(globSync("**/*.md", { cwd: Global.data() }), [])
    for (const text of [
      "The token is required for uploads.",
      "Passwords are kept in the vault.",
      "The password: see the vault.",
    ])
      assert.equal((await call("memory_save", { text }, { slots })).status, "success", text)
  }))
