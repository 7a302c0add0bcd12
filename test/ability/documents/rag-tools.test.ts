// Folders of documents through the gate: added once, kept fresh, answers with path and lines, nothing that may not be read.
import assert from "node:assert/strict"
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { judgeStep } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { Slots } from "#ability/tool/run-tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { call, free, inProject } from "../tool/harness.ts"

function inLibrary(fn: (tmp: Tmp) => Promise<void>) {
  return inProject(async (tmp) => {
    await loadToolGroups()
    await fn(tmp)
  })
}

/** Allows what these rules allow, and grants it as a person would. */
function allowing(...rules: string[]): Slots {
  const layers = [
    { source: "default", rules: Permission.defaults },
    {
      source: "session",
      rules: rules.map((rule) =>
        Permission.parseRule(rule.replace(/^!/, ""), rule.startsWith("!") ? "deny" : "allow"),
      ),
    },
  ]
  return {
    async permit(step) {
      const decide = (need: Permission.Need) => Permission.evaluate(need, ...layers)
      const { action, granted, reals } = await judgeStep(step, decide)
      return action === "allow"
        ? { granted, reals, judge: (need) => decide(need).action }
        : { message: `${action}: ${step.needs.map(Permission.sayNeed).join(", ")}` }
    },
  }
}

async function search(query: string, slots?: Slots): Promise<string> {
  const { status, text } = await call("rag_search", { query }, slots ? { slots } : {})
  assert.equal(status, "success", text)
  return text
}

test("rag_search finds passages of Markdown, text and HTML with path and lines", () =>
  inLibrary(async (tmp) => {
    tmp.write(
      "docs/guide.md",
      "# Guide\n\nIntroduction.\n\n## Rolling back\n\nChoose the previous image in the dashboard.\nThen press deploy.\n",
    )
    tmp.write("docs/bees.txt", "Bees swarm in May.\n")
    tmp.write(
      "docs/page.html",
      "<html><head><title>Telescope</title><style>p { color: red }</style></head>\n<body>\n<h2>Dew</h2>\n<p>A heating band\nkeeps the lens dry.</p>\n<script>var hidden = 1</script>\n</body></html>\n",
    )
    const added = await call("rag_add", { folder: "docs" }, { slots: free })
    assert.match(added.text, /^docs is added: 3 documents, \d passages\.$/)
    assert.match(
      await search("How do I return to the previous image?"),
      /^docs\/guide\.md:1-8 \(guide > Guide > Rolling back\)\n# Guide\n[\s\S]*Choose the previous image/,
    )
    assert.match(await search("when do bees swarm"), /^docs\/bees\.txt:1 \(bees\)/)
    const page = await search("keep the lens dry")
    assert.match(
      page,
      /^docs\/page\.html:3-5 \(Telescope > Dew\)\n## Dew\n\nA heating band\nkeeps the lens dry\./,
    )
    assert.doesNotMatch(page, /color|hidden/)
  }))

test("rag_search sees edited, new and removed files at once", () =>
  inLibrary(async (tmp) => {
    const first = tmp.write("docs/a.md", "The kettle is red.\n")
    await call("rag_add", { folder: "docs" }, { slots: free })
    appendFileSync(first, "\nThe teapot is yellow.\n")
    assert.match(await search("teapot"), /docs\/a\.md:1-3/)
    tmp.write("docs/deep/b.md", "The samovar is made of brass.\n")
    assert.match(await search("samovar"), /docs\/deep\/b\.md:1 /)
    tmp.write("docs/deep/c.md", "The espresso pot is made of steel.\n")
    assert.match(await search("espresso"), /docs\/deep\/c\.md:1 /)
    rmSync(first)
    assert.doesNotMatch(await search("teapot"), /a\.md/)
  }))

test("rag_search finds a passage that has no word of the question", () =>
  inLibrary(async (tmp) => {
    tmp.write("docs/a.md", "The violinist tunes before the overture.\n")
    tmp.write("docs/b.md", "The goalkeeper wears gloves.\n")
    tmp.write("docs/c.md", "The senator resigned after the scandal.\n")
    tmp.write("docs/d.md", "The midwife weighs the newborn.\n")
    await call("rag_add", { folder: "docs" }, { slots: free })
    assert.match(await search("football penalty"), /^docs\/b\.md:1 /)
    assert.match(await search("elections and bribery"), /^docs\/c\.md:1 /)
  }))

test("a folder outside of the workspace needs permission to be indexed and to be searched", () =>
  inLibrary(async (tmp) => {
    const folder = join(dirname(tmp.path), "elsewhere")
    mkdirSync(folder)
    writeFileSync(join(folder, "note.md"), "The lighthouse has 211 steps.\n")
    const refused = await call("rag_add", { folder }, { slots: allowing("knowledge.write") })
    assert.equal(refused.refused, "permission")
    const slots = allowing(`file.read:${folder}`, "knowledge.write")
    assert.equal((await call("rag_add", { folder }, { slots })).status, "success")
    assert.match(await search("lighthouse", slots), /note\.md:1 .*\nThe lighthouse/)
    assert.equal(
      (await call("rag_search", { query: "lighthouse" }, { slots: allowing() })).refused,
      "permission",
    )
  }))

test("secret, hidden and ignored files, links out of the folder and denied files are not found", () =>
  inLibrary(async (tmp) => {
    const outside = join(dirname(tmp.path), "outside.md")
    writeFileSync(outside, "canary outside\n")
    tmp.write("docs/open.md", "canary open\n")
    tmp.write("docs/.ssh/id.md", "canary hidden\n")
    tmp.write("docs/credentials/list.md", "canary credential\n")
    tmp.write("docs/.gitignore", "ignored.md\n")
    tmp.write("docs/ignored.md", "canary ignored\n")
    tmp.write("docs/denied.md", "canary denied\n")
    symlinkSync(outside, join(tmp.path, "docs/link.md"))
    symlinkSync(dirname(tmp.path), join(tmp.path, "docs/up"))
    await call("rag_add", { folder: "docs" }, { slots: free })
    const text = await search("canary", allowing("!file.read:docs/denied.md"))
    assert.match(text, /canary open/)
    assert.doesNotMatch(text, /outside|hidden|credential|ignored|denied/)
  }))

test("a known secret in a document is redacted in the index", () =>
  inLibrary(async (tmp) => {
    Secret.register("canary-5f2b8c91", "test key")
    tmp.write("docs/a.md", "# Door canary-5f2b8c91\n\nThe lighthouse opens with canary-5f2b8c91.\n")
    tmp.write("docs/canary-5f2b8c91.html", "<title>Lamp canary-5f2b8c91</title>\n")
    tmp.write("docs/canary-5f2b8c91.md", "The cellar is dry.\n")
    await call("rag_add", { folder: "docs" }, { slots: free })
    assert.match(await search("lighthouse"), /opens with \[test key\]/)
    const { createDocumentIndex } = await import("#knowledge/documents/document-index.ts")
    const list = async () => ({ files: ["a.md", "canary-5f2b8c91.html", "canary-5f2b8c91.md"], isCut: false })
    const index = createDocumentIndex({ folder: join(tmp.path, "docs"), list })
    await index.refresh()
    assert.equal((await index.search("lighthouse", 5))[0]?.name, "a > Door [test key]")
    assert.equal((await index.search("lamp", 5))[0]?.name, "Lamp [test key]")
    assert.equal((await index.search("cellar", 5))[0]?.name, "[test key]")
    assert.deepEqual(await index.search("5f2b8c91", 5), [])
    await index.close()
  }))

test("rag_list shows folders and knowledge, rag_remove removes a folder, and unknown folders are named", () =>
  inLibrary(async (tmp) => {
    tmp.write("docs/a.md", "Apples.\n")
    assert.match(await search("apples"), /No folder of documents is added/)
    await call("rag_add", { folder: "docs" }, { slots: free })
    const saved = await call(
      "save_knowledge",
      { fact: "Pears ripen in October.", source: "the gardener" },
      { slots: free },
    )
    assert.match(saved.text, /^Recorded as pears-ripen-in-october \(\d{4}-\d\d-\d\d\)\.$/)
    assert.match(
      (await call("rag_list", {})).text,
      /\/docs\nknowledge pears-ripen-in-october \(.*, source: the gardener\)$/,
    )
    assert.match(
      await search("when are pears ripe"),
      /knowledge pears-ripen-in-october \(.*source: the gardener\)\nPears ripen/,
    )
    assert.match(
      (await call("rag_search", { query: "a", folder: "other" })).text,
      /"other" is not among the folders/,
    )
    assert.match((await call("rag_add", { folder: "docs/a.md" }, { slots: free })).text, /is not a folder/)
    const removed = await call("rag_remove", { folder: "docs" }, { slots: free })
    assert.match(removed.text, /no longer searched/)
    assert.doesNotMatch(await search("apples"), /a\.md/)
  }))

test("folders that are added at the same time are all kept", () =>
  inLibrary(async (tmp) => {
    const folders = ["one", "three", "two"]
    for (const folder of folders) tmp.write(`${folder}/a.md`, `About ${folder}.\n`)
    await Promise.all(folders.map((folder) => call("rag_add", { folder }, { slots: free })))
    assert.equal(
      (await call("rag_list", {})).text,
      folders.map((folder) => realpathSync(join(tmp.path, folder))).join("\n"),
    )
  }))

test("a list of folders that a person broke is reported and stays as it is", () =>
  inLibrary(async (tmp) => {
    tmp.write("docs/a.md", "Apples.\n")
    tmp.write("more/b.md", "Pears.\n")
    await call("rag_add", { folder: "docs" }, { slots: free })
    const file = join(Global.data(), "knowledge", Instance.project.id, "sources.json")
    const edited = readFileSync(file, "utf8").replace("\n]", ",\n]")
    writeFileSync(file, edited)
    for (const [tool, folder] of [
      ["rag_add", "more"],
      ["rag_remove", "docs"],
    ] as const) {
      const { status, text } = await call(tool, { folder }, { slots: free })
      assert.equal(status, "error", tool)
      assert.ok(text.includes(file), text)
      assert.equal(readFileSync(file, "utf8"), edited)
    }
    assert.match((await call("rag_list", {})).text, /^No folder is added/)
  }))

test("graph_search and graph_show find the plan of a session", () =>
  inLibrary(async () => {
    await Storage.write(["session", Instance.project.id, "ses_1"], {})
    await Storage.write(["relation", "ses_other"], { nodes: [] })
    const made = await call("todo", {
      todos: [
        { id: "paint", text: "Paint the fence", status: "pending" },
        { text: "Buy brushes", status: "pending", after: ["paint"] },
      ],
    })
    assert.equal(made.status, "success", made.text)
    assert.match(
      (await call("graph_search", { text: "the fence" }, { slots: free })).text,
      /^ses_1 paint \(step, pending\): Paint the fence$/,
    )
    assert.match(
      (await call("graph_show", { session: "ses_1" }, { slots: free })).text,
      /Plan: Tasks \(0 of 2 done\)\n.*paint: Paint the fence/,
    )
    assert.match(
      (await call("graph_show", { session: "ses_1", node: "x" }, { slots: free })).text,
      /has no node "x"/,
    )
  }))
