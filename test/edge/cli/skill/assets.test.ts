import assert from "node:assert/strict"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const letter = "Dear {{name}}, this is the template.\n"

/** A skill with a template and a program among its assets. */
function writeSkill(folder: string, mark: string): void {
  const files = {
    "SKILL.md": "---\nname: letters\ndescription: Writes letters to customers.\n---\nFill in the template.\n",
    "assets/letter.txt": letter,
    "assets/run.sh": `touch ${mark}\n`,
    "assets/deep/run.mjs": `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(mark)}, "")\n`,
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true })
    writeFileSync(join(folder, name), content, { mode: 0o755 })
  }
}

async function runs(tmp: Tmp, command: string, args: string[] = []): Promise<string> {
  await using llm = await fakeLlm([call("bash", { command }), text("Done.")])
  await vitamin(tmp, ["run", "--yes", "--trust", ...args, "go"], env(llm, "chat").variables)
  return llm.requests[1]!.raw
}

test("the assets of a skill are listed for the person and for the model, and the model reads them", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkill(join(tmp.path, "skills/letters"), join(tmp.path, "mark"))
  const { out } = await vitamin(tmp, ["skill", "show", "letters"])
  assert.match(out, /^assets +assets\/deep\/run\.mjs, assets\/letter\.txt, assets\/run\.sh$/m)
  await using llm = await fakeLlm([call("read", { path: "skills/letters/assets/letter.txt" }), text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "/letters for Ada"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(llm.requests[0]!.raw, /Assets:\\n.*skills\/letters\/assets\/letter\.txt/)
  assert.doesNotMatch(llm.requests[0]!.raw, /Run these with bash/)
  assert.match(llm.requests[1]!.raw, /this is the template/)
})

test("a command that runs an asset is denied, whatever the rules say and whoever trusts the folder", async () => {
  await using tmp = await tmpdir({ git: true })
  const mark = join(tmp.path, "mark")
  writeSkill(join(tmp.path, "skills/letters"), mark)
  const ways = [
    "bash skills/letters/assets/run.sh",
    "./skills/letters/assets/run.sh",
    "skills/letters/assets/run.sh",
    "node skills/letters/assets/deep/run.mjs",
    "node --no-warnings ./skills/letters/assets/deep/run.mjs now",
    "source skills/letters/assets/run.sh",
    ". skills/letters/assets/run.sh",
    "cd skills/letters/assets && ./run.sh",
    "cd skills/letters && bash assets/run.sh",
    "true; env X=1 bash skills/letters/assets/run.sh",
    `bash ${tmp.path}/skills/letters/../letters/assets/run.sh`,
    'bash -c "bash skills/letters/assets/run.sh"',
  ]
  for (const command of ways) {
    const seen = await runs(tmp, command, ["--allow", `bash.execute:${command}`, "--allow", "bash.execute:*"])
    assert.match(seen, /would run a file from the assets of a skill/, command)
    assert.ok(!existsSync(mark), command)
  }
})

test("an asset of the person's own skills is not run either", async () => {
  await using tmp = await tmpdir({ git: true })
  const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin/skills/letters")
  writeSkill(folder, join(tmp.path, "mark"))
  assert.match(await runs(tmp, `bash ${folder}/assets/run.sh`), /would run a file from the assets/)
  assert.ok(!existsSync(join(tmp.path, "mark")))
})

test("a command may read and copy an asset, or give it to a program", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkill(join(tmp.path, "skills/letters"), join(tmp.path, "mark"))
  tmp.write(
    "fill.mjs",
    'import { readFileSync } from "node:fs"\nconsole.log(readFileSync(process.argv[2], "utf8"))\n',
  )
  tmp.write("web/assets/build.sh", "echo built\n")
  for (const command of [
    "cat skills/letters/assets/letter.txt",
    "node fill.mjs skills/letters/assets/letter.txt",
    "cp skills/letters/assets/letter.txt letter.txt && cat letter.txt",
  ])
    assert.match(await runs(tmp, command), /this is the template/, command)
  assert.match(
    await runs(tmp, "bash web/assets/build.sh"),
    /built/,
    "assets of other folders are no matter of skills",
  )
})
