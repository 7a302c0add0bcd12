// Hostile files in the place of rules: links that leave the project or form a circle, files that are not text or
// never end, broken databases. Each is reported, and affects nothing else.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Log from "#kernel/process/log.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createRulesDiscovery, type RulesDiscoveryConfig } from "#knowledge/rules/rules-discovery.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function withRules(
  tmp: Tmp,
  fn: (rules: ReturnType<typeof createRulesDiscovery>) => Promise<unknown>,
  more: Partial<RulesDiscoveryConfig> = {},
): Promise<void> {
  Log.setFile(join(tmp.path, "..", "log"))
  const rules = createRulesDiscovery({ rootDir: tmp.path, embedder: createEmbedder(), ...more })
  try {
    await fn(rules)
  } finally {
    await rules.close()
    Log.setFile(undefined)
  }
}

const good = "- [How to deploy](docs/deploy.md)\n"
const findsDeploy = async (rules: ReturnType<typeof createRulesDiscovery>) =>
  (await rules.searchReferences("how to deploy"))[0]?.reference.relativePath === "docs/deploy.md"

test("links that leave the root are reported and not followed", async () => {
  await using tmp = await tmpdir()
  tmp.write("../secret.md", "Xylophone.")
  tmp.write("docs/deploy.md", "Deploy with care.")
  symlinkSync(join(tmp.path, "..", "secret.md"), join(tmp.path, "docs", "link.md"))
  symlinkSync(join(tmp.path, ".."), join(tmp.path, "docs", "up"))
  const links = [
    "[a](../secret.md)",
    "[b](docs/../../secret.md)",
    "[c](%2e%2e/secret.md)",
    `[d](${join(tmp.path, "..", "secret.md")})`,
    "[e](/../secret.md)",
    "[f](docs/link.md)",
    "[g](docs/up/secret.md)",
    "[h](file:///etc/passwd)",
    "[i](../project-2/x.md)",
  ]
  tmp.write("AGENTS.md", `${links.join("\n")}\n${good}`)
  await withRules(tmp, async (rules) => {
    for (const { reference } of await rules.searchReferences("xylophone secret", { limit: 20 }))
      assert.doesNotMatch((await rules.getReferenceContent(reference)) ?? "", /Xylophone/)
    assert.ok(await findsDeploy(rules))
    const { problems, references } = rules.stats()
    for (const line of [1, 2, 3, 9])
      assert.ok(
        problems.some((problem) => problem.includes(`in line ${line} leaves`)),
        problems.join("\n"),
      )
    assert.ok(problems.some((problem) => /^docs\/link\.md: it is outside of/.test(problem)))
    assert.ok(problems.some((problem) => /^docs\/up\/secret\.md: it is outside of/.test(problem)))
    assert.ok(references < links.length)
  })
})

test("circular links of documents and of the file system end", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", `[self](AGENTS.md) [loop](docs/loop.md) [a](docs/a.md)\n${good}`)
  tmp.write("docs/deploy.md", "[back](../AGENTS.md)")
  tmp.write("docs/a.md", "[b](b.md)")
  tmp.write("docs/b.md", "[a](a.md) [b](b.md)")
  symlinkSync("loop.md", join(tmp.path, "docs", "loop.md"))
  symlinkSync("..", join(tmp.path, "docs", "up"))
  await withRules(tmp, async (rules) => {
    assert.ok(await findsDeploy(rules))
    assert.ok(rules.stats().problems.includes("docs/loop.md: its symbolic links lead in a circle"))
  })
})

test("a binary, endless or unreadable target is reported, and its link is kept", async () => {
  await using tmp = await tmpdir()
  tmp.write("docs/deploy.md", "Deploy with care.")
  tmp.write("docs/binary.md", Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256)))
  tmp.write("docs/large.md", "# Beginning\n\nThe quagga is at the front.\n")
  truncateSync(join(tmp.path, "docs/large.md"), 100 << 20)
  tmp.write("docs/long.md", `# The zebra crossing\n\n${"x".repeat(3 << 20)}`)
  mkdirSync(join(tmp.path, "docs/folder.md"))
  execFileSync("mkfifo", [join(tmp.path, "docs/pipe.md")])
  const names = ["binary", "large", "long", "folder", "pipe", "missing"]
  tmp.write("AGENTS.md", `${names.map((name) => `[the ${name} one](docs/${name}.md)`).join("\n")}\n${good}`)
  await withRules(tmp, async (rules) => {
    assert.ok(await findsDeploy(rules))
    assert.deepEqual(rules.stats().problems.sort(), [
      "docs/binary.md: it is not text",
      "docs/folder.md: it is a folder",
      "docs/large.md: it is not text",
      `docs/long.md: it has ${(3 << 20) + 22} bytes, and only the first 1048576 are searched`,
      "docs/missing.md: it does not exist",
      "docs/pipe.md: it is a named pipe, neither a file nor a folder",
    ])
    for (const name of names) {
      const [first] = await rules.searchReferences(`the ${name} one`)
      assert.equal(first?.reference.relativePath, `docs/${name}.md`)
    }
    const [zebra] = await rules.searchReferences("zebra crossing")
    assert.equal(zebra?.reference.relativePath, "docs/long.md")
  })
})

test("a text of 100 MB is searched as far as its beginning", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", `[the large one](docs/large.md)\n${good}`)
  tmp.write("docs/deploy.md", "Deploy with care.")
  tmp.write("docs/large.md", `# Quagga\n\n${"A line of text like any other one.\n".repeat(3_000_000)}`)
  await withRules(tmp, async (rules) => {
    const [first] = await rules.searchReferences("quagga")
    assert.equal(first?.reference.relativePath, "docs/large.md")
    assert.match(rules.stats().problems[0]!, /^docs\/large\.md: it has 10\d+ bytes, and only the first/)
    assert.ok(rules.stats().entries < 3_000)
  })
})

test("thousands of links are all kept, and found", async () => {
  await using tmp = await tmpdir()
  const links = Array.from({ length: 5_000 }, (_, i) => `- [topic number${i}](docs/d${i % 50}.md)`)
  for (let i = 0; i < 50; i++) tmp.write(`docs/d${i}.md`, `# Document ${i}\n\nwombat${i}\n`)
  tmp.write("AGENTS.md", links.join("\n").slice(0, 32 << 10))
  await withRules(tmp, async (rules) => {
    await rules.refresh()
    assert.ok(rules.stats().references > 800, `${rules.stats().references}`)
    const [first] = await rules.searchReferences("wombat17")
    assert.equal(first?.reference.absolutePath, join(tmp.path, "docs/d17.md"))
  })
  tmp.write("docs/d0.md", links.join("\n"))
  await withRules(
    tmp,
    async (rules) => {
      await rules.refresh()
      assert.ok(rules.stats().references > 5_800)
      assert.equal(rules.stats().documents, 20)
      assert.match(
        rules.stats().problems.join("\n"),
        /more links are not followed; 20 documents are the most/,
      )
    },
    { maxDocuments: 20 },
  )
})

test("beyond the limit, documents are known only by their links", async () => {
  await using tmp = await tmpdir()
  const names = Array.from({ length: 8 }, (_, i) => `topic${i}`)
  tmp.write("AGENTS.md", names.map((name) => `- [the rules of ${name}](docs/${name}.md)`).join("\n"))
  for (const name of names) tmp.write(`docs/${name}.md`, `secret${name} ${"x y z ".repeat(2_000)}`)
  await withRules(
    tmp,
    async (rules) => {
      await rules.refresh()
      assert.ok((await rules.searchReferences("secrettopic1"))[0]?.reference.relativePath.includes("topic1"))
      assert.ok(!(await rules.searchReferences("secrettopic7")).some(({ text }) => text))
      assert.match((await rules.searchReferences("rules of topic7"))[0]!.reference.relativePath, /topic7/)
      assert.equal(rules.stats().problems.filter((text) => text.includes("is not searched")).length, 5)
    },
    { maxBytes: 40_000 },
  )
})

test("a repeated link counts once", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", good)
  tmp.write("docs/deploy.md", "[other](other.md)\n".repeat(20_000))
  await withRules(tmp, async (rules) => {
    await rules.refresh()
    assert.equal(rules.stats().references, 2)
    assert.deepEqual(
      rules.stats().problems.filter((text) => text.includes("links")),
      [],
    )
  })
})

test("CRLF, byte order marks and other scripts are read correctly", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    "AGENTS.md",
    "\ufeff# Rules\r\n\r\n- [Развёртывание на сервере](docs/ru.md)\r\n- [部署指南](docs/zh.md)\r\n",
  )
  tmp.write("docs/ru.md", "# Выпуск\r\n\r\nКаждый выпуск получает метку.\r\n")
  tmp.write("docs/zh.md", Buffer.from("\ufeff# 部署\n\n每次 发布 都有标签。\n", "utf16le"))
  await withRules(tmp, async (rules) => {
    assert.equal(
      rules.getRootRules(),
      "# Rules\n\n- [Развёртывание на сервере](docs/ru.md)\n- [部署指南](docs/zh.md)\n",
    )
    const [russian] = await rules.searchReferences("выпуск")
    assert.deepEqual([russian?.reference.relativePath, russian?.reference.lineNumber], ["docs/ru.md", 3])
    const [chinese] = await rules.searchReferences("发布")
    assert.equal(chinese?.reference.relativePath, "docs/zh.md")
    assert.match((await rules.getReferenceContent(chinese!.reference))!, /^# 部署\n/)
  })
})

for (const [what, spoil] of Object.entries({
  "that is no database": (file: string) => writeFileSync(file, "This is not a database at all. ".repeat(200)),
  "that was cut off": (file: string) => truncateSync(file, 5_000),
  "with another shape": (file: string) => {
    using db = new DatabaseSync(file)
    db.exec(
      "drop table rule_references; drop table rules; create table rules (path text); drop table rule_documents",
    )
  },
  "that lost its index": (file: string) => {
    using db = new DatabaseSync(file)
    const tables = db
      .prepare("select name from sqlite_master where type = 'table' and name not like 'rule%'")
      .all()
    for (const { name } of tables)
      try {
        db.exec(`drop table "${name}"`)
      } catch {
        // Those of a virtual table go with it.
      }
  },
}))
  test(`a database ${what} is created again`, async () => {
    await using tmp = await tmpdir()
    tmp.write("AGENTS.md", good)
    tmp.write("docs/deploy.md", "Deploy with care.")
    const dbPath = join(tmp.path, "..", "rules.db")
    const check = () => withRules(tmp, async (rules) => assert.ok(await findsDeploy(rules)), { dbPath })
    await check()
    rmSync(`${dbPath}-wal`, { force: true })
    rmSync(`${dbPath}-shm`, { force: true })
    spoil(dbPath)
    await check()
    await check()
  })

test("if the database cannot be written, the tables are in memory", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", good)
  tmp.write("docs/deploy.md", "Deploy with care.")
  // A file in the place of its folder: nobody can write there, not even root.
  tmp.write("../file", "")
  const dbPath = join(tmp.path, "..", "file", "rules.db")
  await withRules(tmp, async (rules) => assert.ok(await findsDeploy(rules)), { dbPath })
  assert.match(readFileSync(join(tmp.path, "..", "log"), "utf8"), /cannot be kept/)
})

test("two users of one database both find documents", async () => {
  await using tmp = await tmpdir()
  tmp.write("AGENTS.md", good)
  tmp.write("docs/deploy.md", "Deploy with care.")
  const dbPath = join(tmp.path, "..", "rules.db")
  await withRules(
    tmp,
    async (one) => {
      await withRules(
        tmp,
        async (other) => {
          const [first, second] = await Promise.all([findsDeploy(one), findsDeploy(other)])
          assert.ok(first && second)
          tmp.write("docs/deploy.md", "Deploy with a pangolin.")
          await Promise.all([one.refresh(), other.refresh()])
          const [found] = await one.searchReferences("pangolin")
          assert.ok(found?.text)
        },
        { dbPath },
      )
    },
    { dbPath },
  )
})

test("dependency, hidden and ignored folders are not searched for rules", async () => {
  await using tmp = await tmpdir()
  tmp.write(".gitignore", "/generated/\n*.log\n")
  for (const folder of ["node_modules/x", ".git", ".hidden", "generated", "dist", "kept/deep/er"])
    tmp.write(`${folder}/AGENTS.md`, `[the rules of ${folder}](x.md)`)
  symlinkSync(tmp.path, join(tmp.path, "kept", "circle"))
  tmp.write("closed/AGENTS.md", "x")
  chmodSync(join(tmp.path, "closed"), 0o000)
  try {
    await withRules(tmp, async (rules) => {
      const found = await rules.searchReferences("the rules of", { limit: 20 })
      assert.deepEqual(
        found.map(({ reference }) => reference.source),
        [join(tmp.path, "kept/deep/er/AGENTS.md")],
      )
    })
  } finally {
    chmodSync(join(tmp.path, "closed"), 0o700)
  }
})
