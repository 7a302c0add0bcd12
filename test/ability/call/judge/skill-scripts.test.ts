// Scripts of skills at the gate. A rule that allows all commands covers only scripts that a person has reviewed,
// whatever way a command runs them. Tools that write files ask before they change a script.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { judgeStep } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const many = Array.from({ length: 50 }, (_, i) => `w${i} ../v${i}`).join(" ")
const rules = [{ permission: "*", pattern: "**", action: "allow" as const }]

async function inProject(fn: (tmp: Tmp) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  for (const skill of ["skills/a", ".vitamin/skills/a", "tools/abilities/a", "../home/.claude/skills/own"]) {
    tmp.write(`${skill}/SKILL.md`, "---\nname: a\ndescription: Does a.\n---\nDo it.\n")
    tmp.write(`${skill}/scripts/b.sh`, "echo b\n")
  }
  tmp.write("web/scripts/build.sh", "echo built\n")
  tmp.write(".vitamin/config.jsonc", '{ "skills": { "root": "tools/abilities" } }')
  symlinkSync(join(tmp.path, "skills/a"), join(tmp.path, "linked"))
  symlinkSync(tmp.path, join(tmp.path, "../elsewhere"))
  try {
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

/** Whether a rule for everything is not enough. */
async function isProtected(permission: string, target: string): Promise<boolean> {
  const step = { tool: { id: "bash" }, context: { sessionId: "s" }, needs: [{ permission, target }] }
  const judge = (need: Permission.Need) => Permission.evaluate(need, { source: "user", rules })
  const { needs } = await judgeStep(step as unknown as Step, judge)
  return needs.some((need) => need.protected)
}

test("in a folder that nobody trusts, no way to run a skill's script is covered by a wildcard", () =>
  inProject(async (tmp) => {
    for (const command of [
      "bash skills/a/scripts/b.sh",
      "cd skills/a && bash scripts/b.sh",
      "cd skills/a && ./scripts/b.sh",
      "cd skills && cd a && ./scripts/b.sh",
      "cd skills && bash a/scripts/b.sh",
      "env -C skills/a bash scripts/b.sh",
      "env bash skills/a/scripts/b.sh",
      "bash -c 'bash skills/a/scripts/b.sh'",
      "bash skills/a/../a/scripts/b.sh",
      "bash skills/*/scripts/b.sh",
      "bash skills/a/script?/b.sh",
      "bash linked/scripts/b.sh",
      "bash tools/abilities/a/scripts/b.sh",
      "cd tools && bash abilities/a/scripts/b.sh",
      "bash /proc/self/cwd/skills/a/scripts/b.sh",
      `bash ${tmp.path}/../elsewhere/skills/a/scripts/b.sh`,
      `cd / && bash ${tmp.path.slice(1)}/skills/a/scripts/b.sh`,
      "bash < skills/a/scripts/b.sh",
      ". skills/a/scripts/b.sh",
    ])
      assert.ok(await isProtected("bash.execute", command), command)
    const own = join(tmp.path, "../home/.claude/skills/own/scripts/b.sh")
    for (const command of [
      `bash ${own}`,
      "bash ~/.claude/skills/own/scripts/b.sh",
      "bash web/scripts/build.sh",
      "cat skills/a/scripts/b.sh",
    ])
      assert.ok(!(await isProtected("bash.execute", command)), command)
  }))

test("in a trusted folder reviewed scripts run by the rules for commands, wherever they are", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    for (const command of [
      "bash skills/a/scripts/b.sh",
      "bash linked/scripts/b.sh",
      `cd ${tmp.path} && bash .vitamin/skills/a/scripts/b.sh`,
      "bash tools/abilities/a/scripts/b.sh --all",
      "env bash tools/abilities/a/scripts/b.sh",
    ])
      assert.ok(!(await isProtected("bash.execute", command)), command)
  }))

test("a script that changed, appeared or is missing since the review is not covered by a wildcard", () =>
  inProject(async (tmp) => {
    tmp.write("skills/a/scripts/c.ts", 'import "../lib/d.ts"\n')
    tmp.write("skills/a/lib/d.ts", "")
    await Trust.grant(tmp.path)
    assert.ok(!(await isProtected("bash.execute", "node skills/a/scripts/c.ts")))
    tmp.write("skills/a/scripts/b.sh", "echo evil\n")
    tmp.write("tools/abilities/a/scripts/b.sh", "echo evil\n")
    tmp.write("skills/a/scripts/new.sh", "echo new\n")
    tmp.write("skills/a/lib/d.ts", "evil()")
    for (const command of [
      "bash skills/a/scripts/b.sh",
      "bash linked/scripts/b.sh",
      "bash skills/a/scripts/new.sh",
      "bash skills/a/scripts/missing.sh",
      "node skills/a/scripts/c.ts",
      "bash tools/abilities/a/scripts/b.sh",
      "env bash tools/abilities/a/scripts/b.sh",
      "cd tools && bash abilities/a/scripts/b.sh",
    ])
      assert.ok(await isProtected("bash.execute", command), command)
    await Trust.grant(tmp.path)
    assert.ok(!(await isProtected("bash.execute", "bash skills/a/scripts/b.sh")))
  }))

test("a line that may change a reviewed script before it runs it is not covered by a wildcard", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    for (const command of [
      "git apply x.patch && bash skills/a/scripts/b.sh",
      "tar xf pack.tar; bash skills/a/scripts/b.sh",
      "echo evil > x; bash skills/a/scripts/b.sh",
    ])
      assert.ok(await isProtected("bash.execute", command), command)
    for (const command of [
      "cd skills && ls && bash a/scripts/b.sh",
      "cat notes.md; bash skills/a/scripts/b.sh | sort",
    ])
      assert.ok(!(await isProtected("bash.execute", command)), command)
  }))

test("a skill's script is written by a tool only when a person names it, also where the configuration keeps skills elsewhere", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    for (const target of ["tools/abilities/a/scripts/b.sh", "linked/scripts/new.sh", "skills/a/scripts/b.sh"])
      assert.ok(await isProtected("file.write", target), target)
    for (const target of ["web/scripts/build.sh", "tools/abilities/a/SKILL.md", "tools/scripts/x"])
      assert.ok(!(await isProtected("file.write", target)), target)
    assert.ok(!(await isProtected("file.read", "tools/abilities/a/scripts/b.sh")))
  }))

test("a command cannot reach protected files under another name, with few words or with many", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    symlinkSync(join(tmp.path, ".git/hooks"), join(tmp.path, "out"))
    for (const command of ["cp x out/pre-commit", "cd out && cp ../x pre-commit", "cp x linked/scripts/b.sh"])
      for (const line of [command, `${command}; ls ${many}`])
        assert.ok(await isProtected("bash.execute", line), line)
  }))
