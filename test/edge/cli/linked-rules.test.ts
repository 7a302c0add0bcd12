// Documents that a project's instructions link to, through the built command: those that fit the prompt are sent, whole
// or in passages.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Global from "#kernel/process/global.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function requestsFor(tmp: Tmp, prompt: string, replies: Reply[] = [text("done")]): Promise<string[]> {
  await using llm = await fakeLlm(replies)
  const { code, err } = await vitamin(tmp, ["run", prompt], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return llm.requests.map(({ raw }) => raw)
}

test("a linked document that fits the prompt is sent; of a long document only passages", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "# Rules\n\n- [How we deploy](docs/deploy.md)\n- [Style](docs/style.md#names)\n")
  tmp.write("docs/deploy.md", "# Deploy\n\nSHIP ON TUESDAYS. Deploy to production with make ship.\n")
  const filler = Array.from(
    { length: 60 },
    (_, i) => `## Section ${i}\n\n${`Words about nothing special number ${i}. `.repeat(20)}\n`,
  )
  filler.splice(30, 0, "## Names of files\n\nKEBAB CASE HERE. Files are named in kebab case.\n")
  tmp.write("docs/style.md", `# Style\n\n${filler.join("\n")}`)
  const [deploy] = await requestsFor(tmp, "When do we deploy to production?")
  assert.match(deploy!, /SHIP ON TUESDAYS/)
  assert.doesNotMatch(deploy!, /KEBAB CASE HERE/)
  const [names] = await requestsFor(tmp, "How are files named in our style?")
  assert.match(names!, /KEBAB CASE HERE/)
  assert.doesNotMatch(names!, /number 59/)
  const [other] = await requestsFor(tmp, "hello there")
  assert.doesNotMatch(other!, /SHIP ON TUESDAYS|KEBAB CASE HERE/)
  const folder = join(Global.cache(), "rules")
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".db"))
  using db = new DatabaseSync(join(folder, file!), { readOnly: true })
  const links = db.prepare("select display_text as said, absolute_path as path from rule_references").all()
  assert.deepEqual(links.map(({ said, path }) => [said, path]).sort(), [
    ["How we deploy", join(tmp.path, "docs/deploy.md")],
    ["Style", join(tmp.path, "docs/style.md")],
  ])
})

test("a document that the AGENTS.md of a subfolder links to is sent when the model works in that folder", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("AGENTS.md", "Use tabs.")
  tmp.write(
    "src/auth/AGENTS.md",
    "- [Session tokens](notes/tokens.md)\n- [Password hashing](notes/hashing.md)\n",
  )
  tmp.write("src/auth/notes/tokens.md", "# Session tokens\n\nTOKENS LIVE FOR AN HOUR.\n")
  tmp.write("src/auth/notes/hashing.md", "# Password hashing\n\nHASH WITH ARGON.\n")
  tmp.write("src/auth/login.ts", "one\n")
  const [first, second] = await requestsFor(tmp, "How long do session tokens live in src/auth/login.ts?", [
    call("read", { path: "src/auth/login.ts" }),
    text("an hour"),
  ])
  assert.doesNotMatch(first!, /FOR AN HOUR/)
  assert.match(second!, /FOR AN HOUR/)
  assert.doesNotMatch(second!, /WITH ARGON/)
})
