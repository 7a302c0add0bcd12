import assert from "node:assert/strict"
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createSkillDiscovery, type SkillDiscoveryConfig } from "#knowledge/skill/skill-discovery.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const fixture = fileURLToPath(new URL("../../fixture/skills", import.meta.url))

/** Counts the texts that are embedded. */
function counting(): Embedder & { texts: string[] } {
  const texts: string[] = []
  const { embedNow, pieces: _, ...embedder } = createEmbedder()
  const embed = async (text: string) => embedNow!(text)
  return {
    ...embedder,
    texts,
    embed,
    embedBatch: async (all) => {
      texts.push(...all)
      return Promise.all(all.map(embed))
    },
  }
}

async function inSkills(
  fn: (
    tmp: Tmp,
    open: (config?: SkillDiscoveryConfig) => ReturnType<typeof createSkillDiscovery>,
  ) => Promise<void>,
): Promise<void> {
  await using tmp = await tmpdir()
  cpSync(fixture, join(tmp.path, "skills"), { recursive: true })
  const opened: { close(): void }[] = []
  try {
    await fn(tmp, (config) => {
      const one = createSkillDiscovery({ skillsRoot: join(tmp.path, "skills"), ...config })
      opened.push(one)
      return one
    })
  } finally {
    for (const one of opened) one.close()
  }
}

for (const embedder of [undefined, createEmbedder()])
  test(`createSkillDiscovery() finds skills ${embedder ? "by words and vectors" : "by words alone"}`, () =>
    inSkills(async (_, open) => {
      const discovery = open(embedder ? { embedder } : {})
      const best = async (intent: string) => (await discovery.search(intent))[0]?.skill.name
      assert.equal(await best("update all outdated npm packages"), "dependency-updates")
      assert.equal(await best("read this flame graph and tell me what is slow"), "performance-profiling")
      assert.equal((await discovery.search("commit", { limit: 2 })).length <= 2, true)
      const matches = await discovery.search("fill in the form in forms/w9.pdf")
      assert.equal(matches[0]!.skill.name, "pdf-forms")
      assert.ok(
        matches.every(({ fit }, i) => i === 0 || fit <= matches[i - 1]!.fit),
        "the best fit first",
      )
      assert.deepEqual(await discovery.search("   "), [])
    }))

test("createSkillDiscovery() gives scripts and references as they were found, contents on demand", () =>
  inSkills(async (tmp, open) => {
    const discovery = open()
    assert.deepEqual(discovery.all(), [], "nothing is read before it is needed")
    await discovery.refresh()
    assert.equal(discovery.all().length, 14)
    assert.deepEqual(
      discovery.getScripts("release-notes").map(({ name }) => name),
      ["collect"],
    )
    const [choosing, breaking] = discovery.getReferences("release-notes")
    assert.equal(choosing!.displayText, "How to choose what is worth a line")
    assert.match(await discovery.getReferenceContent(choosing!), /# What is worth a line/)
    tmp.write("skills/release-notes/references/choosing.md", "another text")
    assert.equal(await discovery.getReferenceContent(choosing!), "another text", "as it is on the disk now")
    rmSync(breaking!.file)
    await assert.rejects(discovery.getReferenceContent(breaking!), { name: "Document.Unreadable" })
    await assert.rejects(discovery.getReferenceContent({ ...choosing!, file: "/etc/hosts" }), /no skill/)
    assert.deepEqual([discovery.getReferences("nobody"), discovery.getScripts("nobody")], [[], []])
  }))

for (const embedder of [undefined, createEmbedder()])
  test(`createSkillDiscovery() finds references ${embedder ? "by vectors" : "by words"}, of one skill or of all`, () =>
    inSkills(async (tmp, open) => {
      tmp.write(
        "skills/docker-images/SKILL.md",
        "---\nname: docker-images\ndescription: x\n---\n[which base images to choose](base.md)\n",
      )
      tmp.write("skills/docker-images/base.md", "Slim ones.")
      const discovery = open(embedder ? { embedder } : {})
      const [first] = await discovery.searchReferences("breaking changes")
      assert.equal(first!.reference.relativePath, "references/breaking-changes.md")
      const choose = await discovery.searchReferences("how to choose", { skillName: "docker-images" })
      assert.deepEqual(
        choose.map(({ reference }) => reference.skill),
        ["docker-images"],
      )
      const skills = await discovery.search("breaking changes and how to move on", { limit: 20 })
      assert.ok(
        skills.every(({ skill }) => discovery.all().includes(skill)),
        "references are not among the skills",
      )
      assert.deepEqual(await discovery.searchReferences("breaking changes", { minScore: 1e9 }), [])
    }))

test("createSkillDiscovery() removes deleted skills and embeds only changed ones", () =>
  inSkills(async (tmp, open) => {
    const embedder = counting()
    const discovery = open({ embedder })
    await discovery.refresh()
    embedder.texts.length = 0
    await discovery.refresh()
    assert.deepEqual(embedder.texts, [])
    tmp.write(
      "skills/translation/SKILL.md",
      "---\nname: translation\ndescription: Speaks with whales.\n---\nx\n",
    )
    rmSync(join(tmp.path, "skills/release-notes"), { recursive: true })
    await discovery.refresh()
    assert.equal(embedder.texts.length, 1)
    assert.match(embedder.texts[0]!, /whales/)
    assert.equal((await discovery.search("speak with whales"))[0]!.skill.name, "translation")
    assert.deepEqual(await discovery.searchReferences("breaking changes"), [])
    const names = (await discovery.search("write the release notes", { limit: 50 })).map(
      ({ skill }) => skill.name,
    )
    assert.ok(!names.includes("release-notes"))
  }))

test("createSkillDiscovery() keeps its index in a file, and embeds nothing again after a restart", () =>
  inSkills(async (tmp, open) => {
    const dbPath = join(tmp.path, "cache.db")
    const first = createSkillDiscovery({
      skillsRoot: join(tmp.path, "skills"),
      embedder: createEmbedder(),
      dbPath,
    })
    await first.refresh()
    first.close()
    const embedder = counting()
    const second = open({ embedder, dbPath })
    assert.equal((await second.search("translate the strings"))[0]!.skill.name, "translation")
    const [found] = await second.searchReferences("breaking changes")
    assert.equal(found!.reference.skill, "release-notes")
    assert.deepEqual(embedder.texts, [])
  }))

test("createSkillDiscovery() throws a failed scan to its caller only, and scans again", async () => {
  let isBroken = true
  const load = async () => {
    if (isBroken) throw new Error("no disk")
    return []
  }
  const discovery = createSkillDiscovery({ load })
  const unheard: unknown[] = []
  const hear = (error: unknown) => void unheard.push(error)
  process.on("unhandledRejection", hear)
  try {
    await assert.rejects(discovery.refresh(), /no disk/)
    await assert.rejects(discovery.search("anything"), /no disk/)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(unheard, [])
    isBroken = false
    assert.deepEqual(await discovery.search("anything"), [])
  } finally {
    process.off("unhandledRejection", hear)
    discovery.close()
  }
})

test("createSkillDiscovery() reads several folders; the first of equal names wins", () =>
  inSkills(async (tmp, open) => {
    tmp.write("near/translation/SKILL.md", "---\nname: translation\ndescription: Near.\n---\nx\n")
    const discovery = open({ skillsRoot: [join(tmp.path, "near"), join(tmp.path, "skills")] })
    await discovery.refresh()
    assert.equal(discovery.all().length, 14)
    assert.equal(discovery.all()[0]!.description, "Near.")
  }))
