// Commands that could change what runs, however they spell it: a wildcard that allows everything does not allow them.
import assert from "node:assert/strict"
import { homedir } from "node:os"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const all = { source: "user", rules: [{ permission: "*", pattern: "*", action: "allow" as const }] }
const judge = (target: string) => Permission.evaluate({ permission: "bash.execute", target }, all)

for (const command of [
  "touch .vit*/x",
  "touch .v[i]tamin/x",
  "touch .vit{amin,x}/y",
  "touch .{vitamin,x}/y",
  "cp x .*/",
  "cp x .??*",
  "D=.vit; touch ${D}amin/x",
  "D=tamin; touch .vi$D/x",
  "mv v .vit$(echo amin)",
  "cp x .gi?/hooks/pre-commit",
  "cp x --target-directory=.vit*",
  "git config core.hooksPath hooks",
  "git -C sub config --local alias.st '!sh'",
  "git config set core.fsmonitor x",
  "git config alias.x '!sh list x'",
  "git config --file list alias.x y",
  "git config --edit",
  "git config remote.origin.uploadpack x",
  "git config submodule.x.update '!sh'",
  "git config interactive.diffFilter sh",
  "cp x $'.vit\\x61min/y'",
  "cp x $'\\056git/hooks/pre-commit'",
  "cp x $'.\\u0076itamin'/y",
  "sed -i 's/.*/x/' .vit*/config.jsonc",
  "sed 's/.*/x/' f > .vit*/config.jsonc",
  "grep '.vit*/x' f; sed -i p ''.vit*/x''",
  "sed -i 's/a/b/w .vit*' f",
  "sed -i '1e touch .vit*/x' f",
  "sed 's/.*/touch .v*\\/x/' f | sh",
  "echo 'cp x .*/' | sh",
  "awk 'BEGIN { system(\"touch .vit*/x\") }'",
  "find . -name '.vit*' -delete",
  "git checkout HEAD -- '.vit*'",
  "grep -l '.*' f | xargs touch",
  "bash -c 'touch .vit*/x'",
  "eval 'touch .vit*/x'",
  "echo x > skills/deploy/scripts/run.sh",
  "node skills/deploy/scripts/run.mjs; echo x > skills/deploy/scripts/run.mjs",
  "echo x > skills/deploy/scripts/run.sh && bash skills/deploy/scripts/run.sh",
  "bash skills/a/scripts/b skills/a/scripts/b",
  "node skills/deploy/scripts/run.mjs > .vitamin/config.jsonc",
  "bash .claude/skills/deploy/scripts/run.sh .mcp.json",
  "bash -c 'touch .vitamin/skills/a/scripts/b.sh'",
  "node --import ./x.mjs .vitamin/skills/a/scripts/b.mjs",
  "NODE_OPTIONS=--import=./x.mjs node .vitamin/skills/a/scripts/b.mjs",
  "node skills/a/scripts/../../../.vitamin/x.mjs",
  "cp skills/a/scripts/b.sh skills/c/scripts/d.sh",
  "$(echo cp) x .vitamin/skills/a/scripts/b.sh",
  'bash(){ cp x "$1"; }; bash skills/a/scripts/b.sh',
  "function node { cp x skills/*/*; }; node .vitamin/skills/a/scripts/b.mjs",
  "bash skills/a/scripts/b.sh | tee $_",
  "bash .vitamin/skills/a/scripts/b.sh; cp x $BASH_ARGV",
  "A=.vitamin/skills/a/scripts/b.sh; cp x $A; bash $A",
  "cp x skills/a/script?/b.sh",
  "cp x s*/a/scripts/b.sh",
  "cp x ski{lls,n}/a/scr*/b.sh",
  "sed -i s/a/b/ packages/a/skills/deploy/scripts/run.sh",
  "cp x .claude/skills/deploy/scripts/run.sh",
  "cp x .agents/skills/deploy/SKILL.md",
  "cp x .plaited/skills/deploy/SKILL.md",
  "cp x .github/workflows/ci.yml",
  "cp x .github/w*/ci.yml",
  "cp x .npm*",
  "cp x lefthook-local.yaml",
  "cp x node_modules/.bin/tsc && node_modules/.bin/tsc",
  "node_modules/.bin/tsc > node_modules/.bin/tsc",
  "f() { cp x $1; }; f node_modules/.bin/tsc",
  ".vitamin/node_modules/.bin/tsc",
])
  test(`${command} is protected`, () => {
    const { action, protected: isProtected } = judge(command)
    assert.deepEqual([action, isProtected], ["ask", true])
  })

for (const command of [
  "touch ./*",
  "touch *.ts",
  "touch src/*",
  "ls .*",
  "cat .vit*/x",
  "cp .github/*.yml x",
  "cp .eslintrc* x",
  "touch a.$ext",
  "git config user.name x",
  "git config --get core.hooksPath",
  "git config --global --get alias.st",
  "git config list alias",
  "echo $'a\\x41' x",
  "sed -n 's/.*foo//p' file",
  "sed -n 's/.*//p' file",
  "sed -i 's/^.*$//' file",
  "sed 's/.*//' f > out",
  "awk '/.*/' f",
  "awk -F/ '/.*/ { print $1 }' f > out",
  "grep '.*' f > out",
  "grep -v '.*' f | sort | uniq -c",
  'git log --oneline | sed "s/.*//" | head',
  "cd src && sed -E 's/.{3}$//' f | tr a b > out",
  "find . -name '.*' -type f | sort > out",
  "cat skills/deploy/scripts/run.sh",
  "node skills/deploy/scripts/run.mjs --all",
  "node ./.vitamin/skills/deploy/scripts/run.mjs > notes.json",
  "python3 ~/.claude/skills/pdf/scripts/fill.py in.pdf && .agents/skills/a/scripts/b",
  "touch skills/deploy/SKILL.md",
  "touch src/skills/list.ts",
  "touch */a/*",
  "bash $DIR/a/scripts/run.sh",
  "node web/scripts/build.mjs",
  "node_modules/.bin/tsc -p . && ./web/node_modules/.bin/eslint src",
  "cp x .github/dependabot.yml",
  "cp x config.toml docs/mise.md lefthook.md",
  "make -f Makefile",
])
  test(`${command} is not protected`, () => assert.equal(judge(command).protected, undefined))

test("writing a skill's script asks, even if everything is allowed", () => {
  const paths = [
    ".vitamin/skills/a.md",
    ".claude/skills/a/SKILL.md",
    ".agents/skills/a/x",
    ".plaited/skills/a/x",
  ]
  for (const target of [
    ...paths,
    "skills/a/scripts/run.sh",
    "Skills/a/Scripts/deep/run.sh",
    "b/skills/a/scripts/x",
  ]) {
    const decision = Permission.evaluate({ permission: "file.write", target }, all)
    assert.deepEqual([decision.action, decision.protected], ["ask", true], target)
  }
  for (const target of ["skills/a/SKILL.md", "skills/scripts/x.sh", "src/skills.ts"])
    assert.equal(Permission.evaluate({ permission: "file.write", target }, all).action, "allow", target)
})

test("our own folders are recognised behind ~ and variables", async () => {
  await using _ = await tmpdir()
  delete process.env.XDG_CONFIG_HOME
  for (const folder of [homedir(), "~", "$HOME", `"$HOME"`])
    assert.equal(judge(`cp x ${folder}/.config/vitamin/vitamin.jsonc`).protected, true, folder)
  assert.equal(judge("cp x $XDG_DATA_HOME/vitamin/storage").protected, true)
})

test("a long line is checked in time", { timeout: 20_000 }, () => {
  for (const line of ["git config ", "git ", "git config diff."])
    assert.equal(judge(line.repeat(4_000)).protected, undefined, line)
  for (const line of [`bash ${"/scripts/".repeat(28_000)}!`, `bash ${"/".repeat(250_000)}`])
    assert.equal(judge(line).protected, undefined)
  assert.equal(judge("bash skills/a/scripts/b; ".repeat(9_000)).protected, true)
})
