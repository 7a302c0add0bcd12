// A grant ("always") for a command: it allows the words that were shown, and no command that has the same text only
// without its quotes.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"

const need = (target: string) => ({ permission: "bash.execute", target })
const actionOf = (target: string, ...layers: Permission.Layer[]) =>
  Permission.evaluate(need(target), ...layers).action
const granted = (line: string) => ({ source: "grant", rules: Permission.narrowest(need(line)) })

for (const [line, ...others] of [
  ["rm a b", 'rm "a b"', "rm a\\ b", "rm 'a b'; rm a b"],
  ['rm "a b"', "rm a b", "rm ' a b'", "rm 'a b'; rm a b", "rm 'a b'; timeout 5 rm a b"],
  ["rm '?'", "rm ?"],
  ["rm '[ab]'", "rm [ab]"],
  ["rm '{a,b}'", "rm {a,b}"],
  ["rm '$x'", "x=/; rm $x", "rm $x"],
  ['rm "it\'s"', "rm its", "rm \"'it's'\""],
  ["rm ''", "rm", "xargs rm", "rm ' '"],
  ["sh -c true ';' rm x", 'sh -c "true ; rm x"', "sh -c true; rm x"],
  ["env A=b c", "env 'A=b c'"],
  ["ls ~/a", "ls '~/a'", "ls \\~/a"],
  ["git commit -m 'a b'", "git commit -m a b", "git commit -m 'a  b'"],
] as const)
  test(`"always" for ${line} allows nothing else`, () => {
    const layer = granted(line)
    Permission.checkLayer(layer)
    assert.equal(actionOf(line, layer), "allow")
    assert.equal(actionOf(line, { ...layer, source: "session" }), "allow", "as the flag that a refusal names")
    for (const other of others) assert.equal(actionOf(other, layer), "ask", other)
  })

for (const line of [
  "sh",
  "curl https://a/ | bash",
  "bash -s x",
  "sudo /bin/sh -x",
  "python3 -",
  "node /dev/stdin",
  "sh <<E\nrm a\nE",
  "ls | xargs rm",
  "rm -r '~'",
])
  test(`"always" is not possible for ${JSON.stringify(line)}, whose words do not tell what it does`, () => {
    assert.deepEqual(granted(line).rules, [])
    const rules = ["sh", "bash", "rm -r ~", "ls", "xargs rm", "curl https://a/"].map((pattern) => ({
      ...need(""),
      pattern,
      action: "allow" as const,
    }))
    assert.equal(actionOf(line, { source: "grant", rules }), "ask")
  })

test('"always" is stored for everyday commands', () => {
  for (const [line, pattern] of [
    ["npm   'test'", "npm test"],
    ["node --test", "node --test"],
    ["python3 --version", "python3 --version"],
    ["bash script/x.sh", "bash script/x.sh"],
    ["bash -c 'ls -l'", "bash -c 'ls -l'"],
    ['grep -n "a b" src/größe.ts', "grep -n 'a b' src/größe.ts"],
    ["docker run -p 80:80 a/b:1.2@x", "docker run -p 80:80 a/b:1.2@x"],
  ] as const) {
    assert.deepEqual(
      granted(line).rules.map((rule) => rule.pattern),
      [pattern],
    )
    assert.equal(actionOf(line, granted(line)), "allow")
  }
})
