// Shell commands against rules: what a wildcard covers, what only a person can allow, and which nested commands a
// deny rule reaches.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"

const rule = (pattern: string, action: Permission.Action, permission = "bash.execute") => ({
  permission,
  pattern,
  action,
})
const all = [rule("*", "allow")]

const plain: [command: string, pattern: string, action: Permission.Action][] = [
  ["npm test", "npm *", "allow"],
  ["npm   test ", "npm test", "allow"],
  ["npm\ttest", "npm test", "allow"],
  ["'npm' \"test\"", "npm test", "allow"],
  ["n'p'm test", "npm test", "allow"],
  ["echo 'a; b | c > d $(e)'", "echo *", "allow"],
  ["git log --oneline -n 5", "git log *", "allow"],
  ["npm run build:prod", "npm run build:*", "allow"],
  ["npm tests", "npm test", "ask"],
  ["npm", "npm *", "ask"],
  ["pnpm test", "npm *", "ask"],
  ["/tmp/evil/npm test", "npm *", "ask"],
  ["echo über", "echo *", "allow"],
]
for (const [command, pattern, action] of plain)
  test(`evaluateCommand(${JSON.stringify(command)}) with ${pattern} allowed is ${action}`, () => {
    assert.equal(Permission.evaluateCommand(command, [rule(pattern, "allow")]), action)
  })

for (const command of [
  "ls > out",
  "PATH=/tmp ls",
  "$cmd",
  '"" ls',
  "",
  "   ",
  "if ls",
  "ls 'a",
  'ls "a',
  "ls \0",
  "ls \u001b[31m",
  "ls '\u001b[31m'",
  "ls\rrm",
  "ls \u202e",
])
  test(`evaluateCommand(${JSON.stringify(command)}) asks although everything is allowed`, () => {
    assert.equal(Permission.evaluateCommand(command, all), "ask")
    assert.equal(Permission.evaluateCommand(command, [rule(command || "x", "allow")]), "ask")
  })

for (const command of [
  "ls; ls",
  "ls && ls",
  "ls || ls",
  "ls & ls",
  "ls &",
  "(ls)",
  "{ ls; }",
  "! ls",
  "time ls",
  "ls | cat",
  "ls |& cat",
  "ls\nls",
  "ls \\\n-l",
  "ls < in",
  "ls 2>&1",
  "cat <<EOF\nx\nEOF",
  "echo $(ls)",
  "echo `ls`",
  'echo "$(ls)"',
  'echo "$HOME"',
  "echo $HOME",
  "echo ~",
  "ls *.ts",
  "ls a?",
  "ls {a,b}",
  "ls [ab]",
  "ls \\x",
  "ls #c",
  "A=1 ls",
  "diff <(ls) x",
  "ls $$",
  "echo $((1+1))",
  "ls \u00a0x",
])
  test(`evaluateCommand(${JSON.stringify(command)}) is allowed if every command in it is`, () => {
    assert.equal(Permission.evaluateCommand(command, all), "allow")
    assert.equal(Permission.evaluateCommand(command, [rule("other *", "allow")]), "ask")
  })

for (const command of [
  "xargs rm",
  "env ls",
  "sudo ls",
  "timeout 5 ls",
  "nohup ls",
  "bash -c ls",
  "sh -c 'ls'",
  "eval ls",
  "exec ls",
  "command ls",
])
  test(`evaluateCommand(${JSON.stringify(command)}) needs a rule for what it runs, too`, () => {
    const wrapper = rule(`${command.split(" ")[0]} *`, "allow")
    assert.equal(Permission.evaluateCommand(command, [wrapper]), "ask")
    assert.equal(
      Permission.evaluateCommand(command, [wrapper, rule("ls", "allow"), rule("rm", "allow")]),
      "allow",
    )
  })

for (const command of [
  "find . -exec rm x +",
  "find . -delete",
  "find . -name a -fprint out",
  "/usr/bin/find . -execdir x +",
  "sed -i s/a/b/ f",
  "sed -ni p f",
  "sed --in-place=.bak s/a/b/ f",
  "sed --in s/a/b/ f",
  "sed 's/a/b/w out' f",
  "sed 's/a/b/e' f",
  "sed -e 1p -e '1e date' f",
  "sed -f script f",
  "awk 'BEGIN{system(\"date\")}'",
  "awk '{print > \"out\"}' f",
  "sort -o out f",
  "sort -ro out f",
  "sort --output=out f",
  "sort --outp out f",
  "sort --compress-program=x f",
  "uniq in out",
  "git -c core.pager=x log",
  "git -C /tmp log",
  "git --exec-path=/tmp log",
  "git log --output=x",
  "git diff --ext-diff",
  "git grep -Ovim x",
  "git config core.pager x",
  "git submodule foreach x",
  "rg --pre ./x y",
  "rg --pre=./x y",
  "tar -xf a --to-command=x",
  "tar cIf x y z",
  "tar --checkpoint-action=exec=x -cf a b",
  "env",
  "bash",
  "curl -o x http://a",
  "cp evil .vitamin/config.jsonc",
  "cp evil ./.vitamin/config.jsonc",
  "tee .mcp.json",
  "rm -rf .git/hooks",
  "cp x '.vit'amin/y",
])
  test(`evaluateCommand(${JSON.stringify(command)}) is not covered by a wildcard`, () => {
    assert.equal(Permission.evaluateCommand(command, all), "ask")
    const words = command.replaceAll(/["']/g, "")
    assert.equal(Permission.evaluateCommand(command, [rule(`${words.split(" ")[0]} *`, "allow")]), "ask")
  })

for (const command of [
  "find . -name x",
  "sed -n 1,5p f",
  "sed s/a/b/g f",
  "awk '{print $1}' f",
  "sort -rn f",
  "uniq -c f",
  "git log --oneline",
  "git switch -c topic",
  "git diff HEAD",
  "rg -n x src",
  "tar -tf a.tar",
  "cat .vitamin/config.jsonc",
  "npm test",
  "bash build.sh",
  "ls .github",
  "cat .gitignore",
])
  test(`evaluateCommand(${JSON.stringify(command)}) is covered by a wildcard`, () => {
    assert.equal(Permission.evaluateCommand(command, all), "allow")
  })

for (const command of [
  "rm -rf x",
  "/bin/rm -rf x",
  "'rm' -rf x",
  "r''m -rf x",
  "\\rm -rf x",
  "sudo rm -rf x",
  "sudo -u root rm -rf x",
  "sudo -n rm -rf x",
  "env rm -rf x",
  "env -i A=1 rm -rf x",
  "timeout 5 rm -rf x",
  "timeout -s KILL 5 rm -rf x",
  "nohup rm -rf x",
  "xargs rm -rf",
  "xargs -n 1 rm -rf",
  "bash -c 'rm -rf x'",
  'sh -c "rm -rf x"',
  "bash -lc 'cd y && rm -rf x'",
  "sudo bash -c 'rm -rf x'",
  "eval 'rm -rf x'",
  "ls && rm -rf x",
  "ls; rm -rf x",
  "ls | rm -rf x",
  "ls\nrm -rf x",
  "(rm -rf x)",
  "{ rm -rf x; }",
  "echo $(rm -rf x)",
  "echo `rm -rf x`",
  'echo "$(rm -rf x)"',
  "A=1 rm -rf x",
  "if true; then rm -rf x; fi",
  "while rm -rf x; do :; done",
  "! rm -rf x",
  "rm -rf x > /dev/null",
  "rm -rf $HOME",
  "exec rm -rf x",
  "command rm -rf x",
])
  test(`evaluateCommand(${JSON.stringify(command)}) is denied by rm *`, () => {
    assert.equal(Permission.evaluateCommand(command, [...all, rule("rm *", "deny")]), "deny")
  })

for (const command of ["docker rm x", "sudo docker rm x", "git rm x", "npm run rm x", "echo rm x", "rmdir x"])
  test(`evaluateCommand(${JSON.stringify(command)}) is not taken for rm`, () => {
    assert.notEqual(Permission.evaluateCommand(command, [...all, rule("rm *", "deny")]), "deny")
  })

test("evaluateCommand() uses only rules of bash.execute, and the last match wins", () => {
  assert.equal(Permission.evaluateCommand("ls", [rule("*", "allow", "file.write")]), "ask")
  assert.equal(Permission.evaluateCommand("ls", [rule("ls", "deny"), rule("*", "allow")]), "allow")
  assert.equal(Permission.evaluateCommand("ls", [rule("*", "allow"), rule("ls", "ask")]), "ask")
  assert.equal(Permission.evaluateCommand("ls", []), "ask")
  assert.notEqual(
    Permission.evaluateCommand("ls", [{ ...rule("*", "allow"), action: "Allow" as never }]),
    "allow",
  )
})

test("evaluateCommand() handles hostile texts in time", () => {
  const deny = [...all, rule("rm *", "deny")]
  for (const command of [
    "sudo -a ".repeat(20_000),
    "$(".repeat(50_000),
    "bash -c '".repeat(5_000),
    `${"a ".repeat(200_000)}; rm x`,
    "eval ".repeat(10_000),
  ])
    assert.notEqual(Permission.evaluateCommand(command, deny), "allow")
  const stars = [rule(`${"*a".repeat(2_000)}`, "deny"), rule("*", "allow")]
  assert.equal(Permission.evaluateCommand("a".repeat(1_999), stars), "allow")
})
