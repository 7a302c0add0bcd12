// Reports about invalid skills: a run reports each content of a file once, commands about skills always.
import assert from "node:assert/strict"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const good = "---\nname: good\ndescription: Does good things.\n---\nDo it.\n"
const fault = /skill .*broken.SKILL\.md: it is not used: front matter of the kind "js"/

test("an invalid skill is reported in the first run, again when it changes, and always by list, validate and doctor", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  const { variables } = env(llm, "chat")
  const run = async () => (await vitamin(tmp, ["run", "hello"], variables)).err
  tmp.write("skills/good/SKILL.md", good)
  const broken = tmp.write("skills/broken/SKILL.md", "---js\nprocess.exit(3)\n---\n")
  assert.match(await run(), fault)
  assert.doesNotMatch(await run(), fault)
  for (const args of [["skill", "list"], ["skill", "validate"], ["doctor"]])
    for (const _ of [1, 2]) {
      const { out, err } = await vitamin(tmp, args, variables)
      assert.match(out, /broken.SKILL\.md:.*front matter of the kind "js"/, args.join(" "))
      assert.doesNotMatch(err, fault, "said once")
    }
  writeFileSync(broken, "---js\nprocess.exit(4) // another one\n---\n")
  assert.match(await run(), fault)
  assert.doesNotMatch(await run(), fault)
  tmp.write("skills/bad/SKILL.md", "---js\n1\n---\n")
  const both = await run()
  assert.match(both, /bad.SKILL\.md/)
  assert.doesNotMatch(both, fault, "only what is news")
})

test("a run reports an invalid skill and continues if the record of reports is unwritable or damaged", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  const { variables } = env(llm, "chat")
  tmp.write("skills/broken/SKILL.md", "---js\nprocess.exit(3)\n---\n")
  const kept = join(tmp.path, "../cache/vitamin/skill-problems.json")
  for (const content of ["[1, 2", "null", '{"a": 1}']) {
    tmp.write("../cache/vitamin/skill-problems.json", content)
    const { code, err } = await vitamin(tmp, ["run", "hello"], variables)
    assert.equal(code, 0)
    assert.match(err, fault, content)
    assert.ok(existsSync(kept))
  }
  // There is a file in place of the folder.
  tmp.write("../nowhere", "")
  const { code, err } = await vitamin(tmp, ["run", "hello"], {
    ...variables,
    XDG_CACHE_HOME: join(tmp.path, "../nowhere"),
  })
  assert.equal(code, 0, err)
  assert.match(err, fault)
})

test("a misspelt /name ends the run with 2 and the nearest name; a path is not a command", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  const { variables } = env(llm, "chat")
  tmp.write("skills/good/SKILL.md", good)
  const { code, out, err } = await vitamin(tmp, ["run", "/goood morning"], variables)
  assert.deepEqual([code, out], [2, ""])
  assert.match(err, /There is no command "\/goood"\. Did you mean "\/good"\?/)
  assert.equal((await vitamin(tmp, ["run", "/etc/hosts is wrong"], variables)).out, "Done.")
})
