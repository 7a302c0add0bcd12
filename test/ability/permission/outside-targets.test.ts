// Commands that write or run outside of the workspace: a rule with a wildcard does not cover them, unless it names the place.
import assert from "node:assert/strict"
import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const allow = (pattern: string) => ({ permission: "bash.execute", pattern, action: "allow" as const })
const everything = [allow("*")]

for (const command of [
  "git worktree add ../x",
  "git worktree add -b topic ../x",
  "git worktree add /srv/x",
  "git worktree add ~/x",
  'git worktree add "$HOME/x"',
  "git worktree add sub/../../x",
  "git worktree move here ../x",
  "git checkout-index --prefix=../x -a",
  "git checkout-index -a --prefix ../x/",
  "git clone https://example.org/a.git ../x",
  "git clone --separate-git-dir=../g https://example.org/a.git x",
  "git init ../x",
  "git init --separate-git-dir=/srv/g",
  "git bundle create ../x HEAD",
  "git format-patch -o ../x HEAD~1",
  "git format-patch --output-directory=../x HEAD~1",
  "git archive -o ../x.tar HEAD",
  "git diff --output=../x",
  "git apply --directory=../x a.patch",
  "git apply --unsafe-paths a.patch",
  "git submodule add https://example.org/a.git ../x",
  "git push ../x HEAD",
  "git pack-objects ../x",
  "git read-tree --index-output=../x HEAD",
  "git bugreport -o ../x",
  "git -C .. status",
  "git --work-tree=.. checkout .",
  "git --git-dir ../x/.git gc",
  "tar xf a.tar -C ..",
  "tar -xf a.tar -C/srv",
  "tar xfC a.tar ../x",
  "tar xf a.tar --directory=../x",
  "tar xf a.tar --one-top-level=../x",
  "tar cf ../x.tar src",
  "tar -czf /srv/x.tgz src",
  "unzip a.zip -d ../x",
  "unzip -d../x a.zip",
  "zip ../x.zip a",
  "cp a ../x",
  "cp -t ../x a",
  "cp --target-directory=/srv a",
  "cp a ~",
  "mv a ../x",
  "mv ../x a",
  "ln -s a ../x",
  "ln ../x a",
  "rsync -a src/ ../x",
  "install -m 755 a /usr/local/bin/a",
  "install -t /usr/local/bin a",
  "rm -rf ../x",
  "rm -rf ./../x",
  "mkdir -p ../x",
  "touch ../x",
  "echo a | tee ../x",
  "dd if=a of=../x",
  "chmod 777 ../x",
  "patch -d ../x -i a.patch",
  "truncate -s 0 ../x",
  "make -C ..",
  "make -C../x",
  "make --directory=../x",
  "make -f ../Makefile",
  "make install PREFIX=/usr",
  "npm --prefix ../x install",
  "npm install --prefix=../x",
  "npm install -g x",
  "npm i --global x",
  "pnpm -C ../x build",
  "yarn --cwd ../x build",
  "yarn global add x",
  "cargo build --manifest-path ../x/Cargo.toml",
  "cargo install --root ../x y",
  "go build -o ../x .",
  "wget -O ../x https://example.org",
  "env -C ../x make",
  "env --chdir=../x make",
  "cd .. && make",
  "cd .. && git status",
  "cd sub; cd ../..; rm -rf x",
  "(cd sub); rm -rf ../x",
  "bash -c 'cd .. && make'",
  "pushd ../x && cp a b",
  "cd ~ && make",
  "cd && make",
  "cd /srv && make",
  "sudo rm -rf ../x",
  "timeout 5 git worktree add ../x",
  "bash -c 'rm -rf ../x'",
  "rm -rf {..,a}/x",
])
  test(`${command} is not covered by a rule with a wildcard`, () => {
    assert.equal(Permission.evaluateCommand(command, everything), "ask")
  })

for (const command of [
  "git worktree add x",
  "git worktree list",
  "git commit -m '../x and /y'",
  "git grep /api/users",
  "git log -- src/../README.md",
  "git clone https://example.org/a.git x",
  "git push origin main",
  "git stash push -m ../x",
  "tar xf /srv/a.tar",
  "tar tf ../a.tar",
  "tar xf a.tar -C out",
  "unzip ../a.zip",
  "cp ../x a",
  "cp /etc/hosts .",
  "rm -rf build",
  "rm -rf a/../b",
  "mkdir -p a/b",
  "echo a | tee /dev/null",
  "dd if=/dev/zero of=x count=1",
  "make -C sub",
  "make -j4 test",
  "npm test -- /api",
  "npm install x",
  "npm ls -g",
  "cargo test --manifest-path sub/Cargo.toml",
  "cd sub && make",
  "cat ../x",
  "ls /",
  "cd /srv && pwd && ls",
])
  test(`${command} is covered by a rule with a wildcard`, () => {
    assert.equal(Permission.evaluateCommand(command, everything), "allow")
  })

test("a rule that names an outside path covers it, and no other path", () => {
  const rules = [
    allow("git worktree add ../trees/*"),
    allow("cp * /srv/out/*"),
    allow("make * PREFIX=/opt/*"),
  ]
  for (const [command, action] of [
    ["git worktree add ../trees/a", "allow"],
    ["git worktree add ../other", "ask"],
    ["git worktree add ../trees/a ../../b", "ask"],
    ["cp a /srv/out/a", "allow"],
    ["cp a ../x /srv/out/a", "allow"],
    ["make install PREFIX=/opt/x", "allow"],
    ["make -C .. PREFIX=/opt/x", "ask"],
  ] as const)
    assert.equal(Permission.evaluateCommand(command, rules), action, command)
})

test("paths are judged from the folder that the command starts in", async () => {
  await using tmp = await tmpdir({ git: true })
  mkdirSync(join(tmp.path, "a/b"), { recursive: true })
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const layer = { source: "user", rules: everything }
      const judge = (target: string, cwd?: string) =>
        Permission.evaluate(
          { permission: "bash.execute", target, ...(cwd ? { cwd: join(Instance.worktree, cwd) } : {}) },
          layer,
        ).action
      assert.equal(judge("rm ../x"), "ask")
      assert.equal(judge("rm ../x", "a"), "allow")
      assert.equal(judge("rm ../../x", "a"), "ask")
      assert.equal(judge("cd .. && make", "a/b"), "allow")
      assert.equal(judge("cd ../../.. && make", "a/b"), "ask")
      assert.equal(judge(`rm ${Instance.worktree}/x`), "allow")
      assert.equal(judge(`rm ${Instance.worktree}-sibling/x`), "ask")
    },
  })
  await Instance.disposeAll()
})

test("vitamin run with a rule for git makes no worktree or copy outside, and allows .. inside the workspace", async () => {
  await using tmp = await tmpdir({ git: true })
  mkdirSync(join(tmp.path, "sub"))
  const bash = (command: string) => call("bash", { command })
  await using llm = await fakeLlm([
    calls([bash("git worktree add ../escaped"), bash("git checkout-index -a --prefix=../copied/")]),
    bash("cd sub"),
    bash("mkdir ../made"),
    text("done"),
  ])
  const rules = ["git *", "cd *", "mkdir *"].flatMap((rule) => ["--allow", `bash.execute:${rule}`])
  const { code, err } = await vitamin(tmp, ["run", ...rules, "go"], env(llm, "chat").variables)
  assert.equal(code, 3, err)
  assert.match(err, /--allow "bash\.execute:git worktree add \.\.\/escaped"/)
  const has = (name: string) => existsSync(join(tmp.path, name))
  assert.deepEqual([has("../escaped"), has("../copied"), has("made")], [false, false, true])
})
