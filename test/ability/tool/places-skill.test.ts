// Whole folders that come where skills are looked for, by whatever command: a person must name that, because scripts come
// with them. Copies to elsewhere, out of a skill and of single files go by the rules alone.
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

const rules = [{ permission: "*", pattern: "**", action: "allow" as const }]

/** With `skills`, or without: then only the configuration names a folder for them. */
async function inProject(fn: (tmp: Tmp) => Promise<void>, { hasSkills = true } = {}): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  if (hasSkills) tmp.write("skills/a/SKILL.md", "---\nname: a\ndescription: Does a.\n---\nDo it.\n")
  tmp.write("pack/SKILL.md", "---\nname: pack\ndescription: Packs.\n---\nDo it.\n")
  tmp.write("pack/scripts/run.sh", "echo x\n")
  tmp.write("bundle/skills/b/SKILL.md", "x")
  tmp.write("docs/guide.md", "x")
  tmp.write("notes.md", "x")
  tmp.write("src/skills/list.ts", "x")
  tmp.write(".vitamin/config.jsonc", '{ "skills": { "root": "tools/abilities" } }')
  if (hasSkills) symlinkSync(join(tmp.path, "skills"), join(tmp.path, "linked"))
  try {
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        await Trust.grant(tmp.path)
        await fn(tmp)
      },
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

/** Whether a rule for everything is not enough. */
async function isProtected(target: string): Promise<boolean> {
  const needs = [{ permission: "bash.execute", target }]
  const step = { tool: { id: "bash" }, context: { sessionId: "s" }, needs } as unknown as Step
  const judged = await judgeStep(step, (need) => Permission.evaluate(need, { source: "user", rules }))
  return judged.needs.some((need) => need.protected)
}

const placing = [
  "cp -r pack skills/new",
  "cp -r pack skills/",
  "cp -a pack skills",
  "cp -R /somewhere/pack skills/new",
  "cp -r /somewhere/unknown skills/a",
  "rm -rf skills/a && cp -r pack skills/a",
  "cp -r pack/. skills/a",
  "cp -r pack/* skills/a",
  "cp -r pack/scripts skills/a",
  "cp -rT pack skills/a",
  "cp -rt skills pack",
  "cp -r --target-directory=skills pack",
  "cp --parents pack/scripts/run.sh skills/",
  'cp -r pack "skills/new"',
  "cp -r pack ./skills/../skills/new",
  "cp -r pack linked/new",
  "cp -r pack ski*/new",
  "cp -r pack {skills,other}/new",
  "cp -r pack $PWD/skills/new",
  "cp -r pack Skills/new",
  "cp -r $PACK skills/a",
  "cp -r bundle/. .",
  "cp -r bundle/skills .",
  "cp -r /unknown/bundle/. .",
  "cp -r pack tools/abilities/new",
  "cp -r pack tools",
  "mv pack skills/new",
  "mv pack skills",
  "mv pack/scripts skills/a/",
  "mv -t skills pack",
  "mv skills/a skills/b",
  "ln -s ../pack skills/new",
  "ln -sfn /somewhere skills",
  "cd skills && ln -s ../pack",
  "cd skills && cp -r ../pack .",
  "pushd skills; cp -r ../pack new; popd",
  "(cd skills; git clone https://example.invalid/x/pack.git)",
  "rsync -a pack/ skills/new/",
  "rsync -av --exclude x pack skills",
  "rsync -aR pack/scripts/run.sh skills/",
  "scp -r host:pack skills/new",
  "tar -xzf pack.tgz -C skills",
  "tar xf pack.tar -C skills/new",
  "tar --extract --file pack.tar --directory=skills/a",
  "curl -s https://example.invalid/p.tgz | tar xz -C skills/new --strip-components=1",
  "cd skills && tar xf ../pack.tar",
  "tar xf pack.tar",
  "unzip pack.zip -d skills",
  "unzip pack.zip",
  "7z x pack.7z -oskills/new",
  "cpio -idm -D skills",
  "git clone https://example.invalid/x/pack skills/z",
  "git clone git@example.invalid:x/skills.git",
  "git -C skills clone https://example.invalid/x/pack",
  "git submodule add https://example.invalid/x/pack skills/z",
  "git mv pack skills/new",
  "git checkout other -- skills/a",
  "git worktree add skills/z",
  "gh repo clone x/pack skills/z",
  "npx degit x/pack skills/z",
  "node build.mjs --out=skills/new",
  `python3 -c "import shutil; shutil.copytree('pack', 'skills/new')"`,
  "bash -c 'cp -r pack skills/new'",
  "sudo cp -r pack skills/new",
  "env X=1 mv pack skills/new",
  "ls pack | xargs -I{} cp -r {} skills/a",
  "find pack -maxdepth 0 -exec cp -r {} skills/new \\;",
  "if true; then cp -r pack skills/new; fi",
  "for x in pack; do cp -r $x skills/; done",
  "mkdir -p skills/new && cp -r pack/. skills/new",
  "D=skills; cp -r pack $D/new",
  "OUT=skills/new make pack",
  'for to in skills/new; do cp -r pack "$to"; done',
  "cp -r pack `pwd`/skills/new",
  "cd $(git rev-parse --show-toplevel)/skills && cp -r ~/pack .",
  "ln -s skills other && cp -r pack other/new",
  "ln -s skills/a other",
  "echo 'cp -r pack skills/new' | sh",
  "python3 - <<'END'\nimport shutil\nshutil.copytree('pack', 'skills/new')\nEND",
  `node -e "fs.cpSync('pack', 'skills/new', { recursive: true })"`,
  "f() { cp -r $1 $2; }; f pack skills/new",
  "\\cp -r pack skills/new",
  "/bin/mv pack skills/new",
  "wget -P skills/new https://example.invalid/x",
  "pax -rw pack skills/new",
]

const ordinary = [
  "cp -r docs dist",
  "cp -r docs .",
  "cp -r pack /tmp/backup",
  "cp -r pack/. dist/",
  "cp -r pack src/skills/new",
  "cp -r docs packages/x/skills",
  "cp -r skills /tmp/backup",
  "cp -r skills/a old",
  "cp -r skills/a/. /tmp/a",
  "cp notes.md skills/a/SKILL.md",
  "cp notes.md skills/",
  "cp -r notes.md skills/a/",
  "cp notes.md docs/guide.md skills/a",
  "cp -r docs skills/a/references",
  "cp -r docs skills/a",
  "mv notes.md skills/a/",
  "mv skills/a /tmp/gone",
  "mv docs/guide.md notes.md",
  "mv docs manual",
  "ln -s notes.md skills/a/notes.md",
  "ln -s ../docs public",
  "rsync -a docs/ dist/",
  "rsync -av --exclude node_modules skills/ /tmp/backup/",
  "rsync -a skills/a host:skills/a",
  "tar czf skills.tgz skills",
  "tar -tf pack.tar",
  "tar xf pack.tar -C /tmp/x",
  "tar -xzf pack.tgz -C dist",
  "unzip -l pack.zip",
  "unzip pack.zip -d dist",
  "git clone https://example.invalid/x/pack",
  "git clone https://example.invalid/x/pack vendor/pack",
  "git add skills/a",
  "git diff skills",
  "git commit -m 'skills' -- skills/a",
  "git log --oneline skills",
  "git checkout -b feature/skills-list",
  "git mv docs/guide.md docs/manual.md",
  "mkdir -p skills/new",
  "touch skills/new/SKILL.md",
  "rm -rf skills/a",
  "echo hello > skills/a/SKILL.md",
  "sed -i s/a/b/ skills/a/SKILL.md",
  "cat skills/a/SKILL.md | tee /tmp/x",
  "grep -rn foo skills | sort > found.txt",
  "find skills -name '*.md'",
  "cd skills/a && ls -la",
  "npm test",
  "npx prettier --write src",
  "node src/skills/list.ts",
  "chmod -R u+w skills/a",
  "for f in skills/*; do echo $f; done",
  "bash skills/a/scripts/run.sh --all",
  "echo skills | sort",
  "D=dist; cp -r docs $D/new",
  "cat > README.md <<'END'\nskills/new is a skill\nEND",
  "git commit -m 'feat: skills/new=first'",
  "OUT=dist make",
  "ln -s skills/a/SKILL.md guide.md",
  "cd $HOME && cp -r x y",
]

test("a whole folder comes among the skills only when a person names it", () =>
  inProject(async () => {
    for (const command of placing) assert.ok(await isProtected(command), command)
  }))

test("copies elsewhere, out of skills and of single files are as ordinary as before", () =>
  inProject(async () => {
    for (const command of ordinary) assert.ok(!(await isProtected(command)), command)
  }))

test("in a project without skills what unpacks over it is ordinary, and what makes the first skill is not", () =>
  inProject(
    async () => {
      for (const command of [
        "tar xf pack.tar",
        "unzip pack.zip",
        "cp -r /unknown/bundle/. .",
        "cp -r docs .",
      ])
        assert.ok(!(await isProtected(command)), command)
      for (const command of [
        "cp -r pack skills",
        "mv bundle/skills .",
        "cp -r bundle/. .",
        "ln -s pack skills",
      ])
        assert.ok(await isProtected(command), command)
    },
    { hasSkills: false },
  ))

test("a long line is looked at in no time", { timeout: 20_000 }, () =>
  inProject(async () => {
    const words = Array.from({ length: 5_000 }, (_, i) => `f${i}.txt`).join(" ")
    for (const command of [
      `cp ${words} dist`,
      `mv ${words} dist`,
      `prettier ${words}`,
      `git mv ${words} dist`,
    ])
      assert.ok(!(await isProtected(command)), command.slice(0, 20))
  }),
)

test("a line with more sources and targets than can be looked at is asked for", { timeout: 20_000 }, () =>
  inProject(async () => {
    for (const word of ["skills/a/x", "$x", "./../*"]) {
      const words = Array.from({ length: 1_500 }, (_, i) => `${word}${i}`).join(" ")
      assert.ok(await isProtected(`cp -r --unknown ${words}`), word)
    }
  }),
)
