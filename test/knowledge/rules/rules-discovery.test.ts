// The rules of a project in three steps: the root's at once, linked documents by intent, those of a folder by path.
// They are stored in a database that follows changes of the files.
import assert from "node:assert/strict"
import { rmSync, symlinkSync, utimesSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createRulesDiscovery, type RulesDiscoveryConfig } from "#knowledge/rules/rules-discovery.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const root = `# Rules
Use tabs.
- [How we release and deploy to production](docs/deploy.md)
- [Writing database migrations](docs/database.md)
- [Elsewhere](https://example.org/x.md)
`

async function project(): Promise<Tmp> {
  const tmp = await tmpdir()
  tmp.write("AGENTS.md", root)
  tmp.write(
    "docs/deploy.md",
    "# Deploying\n\nEvery release is tagged.\n\n## Going back\n\nRun the rollback script.\n",
  )
  tmp.write(
    "docs/database.md",
    "# Migrations\n\nA migration has an up and a down part. Columns are never renamed.\n",
  )
  tmp.write("src/auth/AGENTS.md", "# Auth\nNever log a token. See [the threat model](threats.md).\n")
  tmp.write("src/auth/threats.md", "# Threats\nStolen session cookies, replayed passwords.\n")
  tmp.write("src/AGENTS.md", "Small files.\n")
  return tmp
}

async function withRules(
  tmp: Tmp,
  fn: (rules: ReturnType<typeof createRulesDiscovery>) => Promise<unknown>,
  more: Partial<RulesDiscoveryConfig> = {},
): Promise<void> {
  const rules = createRulesDiscovery({ rootDir: tmp.path, embedder: createEmbedder(), ...more })
  try {
    await fn(rules)
  } finally {
    await rules.close()
  }
}

const pathsOf = (matches: { reference: { relativePath: string } }[]) =>
  matches.map(({ reference }) => reference.relativePath)

test("getRootRules() gives the root's file at once, and a changed one after refresh()", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    assert.equal(rules.getRootRules(), root)
    tmp.write("AGENTS.md", "Use blanks, please.\n")
    assert.equal(rules.getRootRules(), root)
    await rules.refresh()
    assert.equal(rules.getRootRules(), "Use blanks, please.\n")
  })
})

test("searchReferences() finds linked documents by what is to be done, each with where its link stands", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    const [first] = await rules.searchReferences("deploy the new version to production")
    assert.deepEqual(first?.reference, {
      displayText: "How we release and deploy to production",
      relativePath: "docs/deploy.md",
      absolutePath: join(tmp.path, "docs/deploy.md"),
      source: join(tmp.path, "AGENTS.md"),
      lineNumber: 3,
    })
    assert.ok(first.score > 0)
    const [second] = await rules.searchReferences("add a column to the users table", { limit: 1 })
    assert.equal(second?.reference.relativePath, "docs/database.md")
    // By words that only its content has.
    const [third] = await rules.searchReferences("rollback script")
    assert.equal(third?.reference.relativePath, "docs/deploy.md")
    assert.deepEqual(
      third.passages.map(({ line }) => line),
      [1],
    )
  })
})

test("searchReferences() gives at most as many as asked for, the best first", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    const all = await rules.searchReferences("deploy a database migration in the session", { limit: 10 })
    assert.ok(all.length > 1)
    const scores = all.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    assert.equal((await rules.searchReferences("deploy a database migration", { limit: 1 })).length, 1)
  })
})

test("links of rules below the root are found, unless scan is false", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    const [first] = await rules.searchReferences("stolen cookies and the threat model")
    assert.equal(first?.reference.absolutePath, join(tmp.path, "src/auth/threats.md"))
  })
  await withRules(
    tmp,
    async (rules) => {
      const found = await rules.searchReferences("stolen cookies and the threat model")
      assert.ok(!pathsOf(found).includes("threats.md"))
    },
    { scan: false },
  )
})

test("getReferenceContent() gives the document, or nothing where it is gone", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    const [match] = await rules.searchReferences("database migrations")
    assert.match((await rules.getReferenceContent(match!.reference))!, /never renamed/)
    rmSync(join(tmp.path, "docs/database.md"))
    assert.equal(await rules.getReferenceContent(match!.reference), undefined)
    const outside = { ...match!.reference, absolutePath: "/etc/passwd" }
    assert.equal(await rules.getReferenceContent(outside), undefined)
  })
})

test("getRulesForIntent() gives the texts that searchReferences() finds", async () => {
  await using tmp = await project()
  await withRules(tmp, async (rules) => {
    const [text] = await rules.getRulesForIntent("how do I deploy?")
    assert.match(text!, /Every release is tagged/)
  })
})

test("getRulesForPath() gives the rules on the way to a file from the root's side, without the root's own", async () => {
  await using tmp = await project()
  await withRules(
    tmp,
    async (rules) => {
      const auth = "# Auth\nNever log a token. See [the threat model](threats.md).\n"
      const both = ["Small files.\n", auth]
      assert.deepEqual(rules.getRulesForPath(join(tmp.path, "src/auth/login/form.ts")), both)
      assert.deepEqual(rules.getRulesForPath("src/auth/x.ts"), both)
      assert.deepEqual(rules.getRulesForPath("src/x.ts"), ["Small files.\n"])
      assert.deepEqual(rules.getRulesForPath("x.ts"), [])
      assert.deepEqual(rules.getRulesForPath("/etc/passwd"), [])
      assert.deepEqual(rules.getRulesForPath("../project-2/src/x.ts"), [])
      tmp.write("src/AGENTS.md", "Smaller files!\n")
      assert.deepEqual(rules.getRulesForPath("src/x.ts"), ["Smaller files!\n"])
      rmSync(join(tmp.path, "src/AGENTS.md"))
      assert.deepEqual(rules.getRulesForPath("src/auth/x.ts"), [auth])
    },
    { cwd: tmp.path },
  )
  await withRules(tmp, async (rules) => assert.equal(rules.getRulesForPath("auth/x.ts").length, 1), {
    cwd: join(tmp.path, "src"),
  })
})

test("refresh() indexes changed documents and removes deleted ones", async () => {
  await using tmp = await project()
  const dbPath = join(tmp.path, "..", "cache", "rules.db")
  await withRules(
    tmp,
    async (rules) => {
      await rules.refresh()
      const before = rules.stats()
      tmp.write("docs/deploy.md", "# Deploying\n\nAsk the harbour master about containers.\n")
      utimesSync(join(tmp.path, "docs/deploy.md"), 1, 1)
      await rules.refresh()
      const [first] = await rules.searchReferences("harbour master")
      assert.equal(first?.reference.relativePath, "docs/deploy.md")
      assert.equal((await rules.searchReferences("rollback script"))[0]?.text, undefined)
      rmSync(join(tmp.path, "src/auth"), { recursive: true })
      rmSync(join(tmp.path, "docs/database.md"))
      await rules.refresh()
      const after = rules.stats()
      assert.deepEqual(
        [after.rules, after.references, after.documents],
        [before.rules - 1, before.references - 1, before.documents - 1],
      )
      assert.deepEqual(after.problems, ["docs/database.md: it does not exist"])
      assert.ok(!pathsOf(await rules.searchReferences("stolen cookies")).includes("threats.md"))
    },
    { dbPath },
  )
})

test("the index survives a restart, and unchanged documents are not read again", async () => {
  await using tmp = await project()
  const dbPath = join(tmp.path, "..", "cache", "rules.db")
  await withRules(tmp, (rules) => rules.refresh(), { dbPath })
  const rows = () => {
    using db = new DatabaseSync(dbPath)
    return db.prepare("select rowid, * from rule_references order by rowid").all()
  }
  const before = rows()
  await withRules(
    tmp,
    async (rules) => {
      assert.equal(rules.stats().references, 3)
      const [first] = await rules.searchReferences("tagged release")
      assert.equal(first?.reference.relativePath, "docs/deploy.md")
    },
    { dbPath },
  )
  assert.deepEqual(rows(), before)
})

test("removing a file removes its links and their words from the tables", async () => {
  await using tmp = await project()
  const dbPath = join(tmp.path, "..", "rules.db")
  await withRules(tmp, (rules) => rules.refresh(), { dbPath })
  using db = new DatabaseSync(dbPath)
  db.exec("pragma foreign_keys = on")
  const columns = (table: string) =>
    db
      .prepare(`pragma table_info(${table})`)
      .all()
      .map(({ name, notnull, pk }) => `${name}${notnull ? " not null" : ""}${pk ? " key" : ""}`)
  assert.deepEqual(columns("rules"), ["rowid key", "path not null", "content not null", "mtime not null"])
  assert.deepEqual(columns("rule_references"), [
    "rowid key",
    "source_path not null",
    "display_text not null",
    "relative_path not null",
    "absolute_path not null",
    "line_number not null",
  ])
  assert.deepEqual(columns("rules_fts"), ["display_text", "content"])
  const [key] = db.prepare("pragma foreign_key_list(rule_references)").all()
  assert.deepEqual(
    [key?.table, key?.from, key?.to, key?.on_delete],
    ["rules", "source_path", "path", "CASCADE"],
  )
  const indices = db.prepare("pragma index_list(rule_references)").all()
  assert.ok(indices.some(({ name }) => name === "idx_refs_source"))
  const found = db.prepare("select display_text from rules_fts where rules_fts match 'tagged'").all()
  assert.equal(found[0]?.display_text, "How we release and deploy to production")
  const path = join(tmp.path, "AGENTS.md")
  assert.throws(
    () => db.prepare("insert into rules (path, content, mtime) values (?, '', 0)").run(path),
    /UNIQUE/,
  )
  db.prepare("delete from rules where path = ?").run(path)
  assert.deepEqual(db.prepare("select display_text from rule_references").all().length, 1)
  assert.deepEqual(db.prepare("select 1 from rules_fts where rules_fts match 'tagged'").all(), [])
})

test("stats() counts, close() frees the database and the embedder, once", async () => {
  await using tmp = await project()
  let closed = 0
  const embedder = { ...createEmbedder(), close: async () => void closed++ }
  const rules = createRulesDiscovery({ rootDir: tmp.path, embedder })
  await rules.refresh()
  const { entries, ...counts } = rules.stats()
  assert.deepEqual(counts, { rules: 3, references: 3, documents: 3, problems: [] })
  assert.ok(entries >= 6)
  await rules.close()
  await rules.close()
  assert.equal(closed, 1)
})

test("the earlier form of the configuration names the root's file", async () => {
  await using tmp = await project()
  tmp.write("docs/rules.md", "See [deploying](deploy.md) and [the source](../src/index.ts).\n")
  const early = { rootPath: join(tmp.path, "AGENTS.md"), dbPath: ":memory:", embedder: createEmbedder() }
  const rules = createRulesDiscovery(early)
  assert.equal(rules.getRootRules(), root)
  await rules.close()
  await withRules(
    tmp,
    async (other) => {
      assert.match(other.getRootRules(), /^See \[deploying\]/)
      const [first] = await other.searchReferences("deploying")
      assert.equal(first?.reference.source, join(tmp.path, "docs/rules.md"))
      assert.equal(first.reference.absolutePath, join(tmp.path, "docs/deploy.md"))
    },
    { rootPath: "docs/rules.md" },
  )
  assert.throws(() => createRulesDiscovery({}), { name: "Rules.InvalidRoot" })
  assert.throws(() => createRulesDiscovery({ rootDir: join(tmp.path, "none") }), {
    name: "Rules.InvalidRoot",
  })
})

test("a document of a document is found, and circles end", async () => {
  await using tmp = await project()
  tmp.write("docs/deploy.md", "See [the on-call handbook](oncall.md) and [the rules](../AGENTS.md).\n")
  tmp.write("docs/oncall.md", "Pager duty rotates weekly. [deploying](deploy.md) [deeper](deeper.md)\n")
  tmp.write("docs/deeper.md", "Zanzibar.\n")
  await withRules(tmp, async (rules) => {
    const [first] = await rules.searchReferences("pager rotation")
    assert.equal(first?.reference.source, join(tmp.path, "docs/deploy.md"))
    assert.deepEqual(
      pathsOf(await rules.searchReferences("zanzibar")).filter((path) => path === "deeper.md"),
      [],
    )
  })
})

test("a root that is given by a link works by either path", async () => {
  await using tmp = await project()
  const other = join(dirname(tmp.path), "other")
  symlinkSync(tmp.path, other)
  await withRules(
    tmp,
    async (rules) => {
      assert.equal(rules.getRulesForPath(join(other, "src/x.ts")).length, 1)
      assert.equal(rules.getRulesForPath(join(tmp.path, "src/x.ts")).length, 1)
      assert.equal((await rules.searchReferences("deploy to production")).length > 0, true)
    },
    { rootDir: other },
  )
})

test("a long document with many matching passages does not crowd out others", async () => {
  await using tmp = await project()
  const section = (i: number) => `## Deploy ${i}\n\n${"We deploy to production with care. ".repeat(30)}\n`
  tmp.write("docs/long.md", Array.from({ length: 200 }, (_, i) => section(i)).join("\n"))
  tmp.write("AGENTS.md", `${root}- [All about how we deploy to production](docs/long.md)\n`)
  await withRules(tmp, async (rules) => {
    const found = pathsOf(await rules.searchReferences("deploy to production", { limit: 2 }))
    assert.deepEqual(found.sort(), ["docs/deploy.md", "docs/long.md"])
  })
})
