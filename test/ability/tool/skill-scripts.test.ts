// The scripts of skills at the gate: who may run them in a folder that nobody trusts, and that nobody writes them unasked,
// by whatever way a command gets to them.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { judgeStep } from "#ability/tool/judge-step.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

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

test("in a folder that somebody trusts they run by the rules for commands, wherever they are", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    for (const command of [
      "bash skills/a/scripts/b.sh",
      `cd ${tmp.path} && bash .vitamin/skills/a/scripts/b.sh`,
      "bash tools/abilities/a/scripts/b.sh --all",
    ])
      assert.ok(!(await isProtected("bash.execute", command)), command)
  }))

test("a skill's script is written only when a person names it, also where the configuration keeps skills elsewhere", () =>
  inProject(async (tmp) => {
    await Trust.grant(tmp.path)
    // Among many words as among few.
    for (const command of [
      "cd skills/a && echo x > scripts/b.sh",
      "cd skills; cp x a/scripts/b.sh",
      "pushd skills/a; cp x scripts/new.sh",
      "cd skills; mkdir -p new/scripts && cp x new/scripts/c.sh",
      "cp x tools/abilities/a/scripts/b.sh",
      "bash tools/abilities/a/scripts/b.sh > tools/abilities/a/scripts/b.sh",
      "cp x linked/scripts/b.sh",
    ])
      for (const line of [command, `${command}; ls ${many}`])
        assert.ok(await isProtected("bash.execute", line), line)
    for (const target of ["tools/abilities/a/scripts/b.sh", "linked/scripts/new.sh", "skills/a/scripts/b.sh"])
      assert.ok(await isProtected("file.write", target), target)
    for (const target of ["web/scripts/build.sh", "tools/abilities/a/SKILL.md", "tools/scripts/x"])
      assert.ok(!(await isProtected("file.write", target)), target)
    assert.ok(!(await isProtected("file.read", "tools/abilities/a/scripts/b.sh")))
  }))
