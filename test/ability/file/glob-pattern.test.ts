// Glob patterns over paths.
import assert from "node:assert/strict"
import { test } from "node:test"
import { compileGlob } from "#ability/file/glob-pattern.ts"

/** Through the filter by name as ripgrep would, then the pattern. */
const cases: [pattern: string, yes: string[], no: string[]][] = [
  ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "lib/src/a.ts", "srcs/a.ts"]],
  ["**/test/*.ts", ["test/a.ts", "x/y/test/a.ts"], ["test/x/a.ts", "atest/a.ts"]],
  ["src/*.[jt]s", ["src/a.ts", "src/a.js"], ["src/a.cs", "src/b/a.ts"]],
  ["src/[!a]*", ["src/b.ts"], ["src/a.ts"]],
  ["src/[^a-c].ts", ["src/d.ts"], ["src/b.ts"]],
  ["src/a?.ts", ["src/ab.ts"], ["src/a.ts", "src/abc.ts"]],
  ["{src,lib}/{a,b}.{ts,js}", ["src/a.ts", "lib/b.js"], ["src/c.ts", "x/a.ts"]],
  ["{src/**,lib/x}/a.ts", ["src/a.ts", "src/b/a.ts", "lib/x/a.ts"], ["lib/a.ts"]],
  ["{a,{b,c}}/x", ["a/x", "b/x", "c/x"], ["d/x"]],
  ["./src/a.ts", ["src/a.ts"], ["b/src/a.ts"]],
  ["/src/a.ts", ["src/a.ts"], ["b/src/a.ts"]],
  ["src/**", ["src/a", "src/b/c"], ["lib/a"]],
  ["a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "b/c"]],
  ["src/a\\*.ts", ["src/a*.ts"], ["src/ab.ts"]],
  ["src/*\\*.ts", ["src/a*.ts", "src/*.ts"], ["src/a.ts"]],
  ["src/*a*b*", ["src/xaxbx", "src/ab"], ["src/ba"]],
  ["src/(a)+$.ts", ["src/(a)+$.ts"], ["src/aa.ts"]],
]
for (const [pattern, yes, no] of cases)
  test(`compileGlob() matches ${pattern}`, () => {
    const { matches } = compileGlob(pattern)
    for (const path of yes) assert.equal(matches(path), true, path)
    for (const path of no) assert.equal(matches(path), false, path)
  })

test("compileGlob() passes names to ripgrep only if both read them alike", () => {
  assert.deepEqual(compileGlob("src/**/*.{ts,js}").filter, [
    "--type-add=vitamin:*.ts",
    "--type-add=vitamin:*.js",
    "--type=vitamin",
  ])
  for (const pattern of ["src/**", "**/*", "a/[ab].ts", "include:py", "a\\*", "{a.ts,**}"])
    assert.deepEqual(compileGlob(pattern).filter, [], pattern)
})

test("compileGlob() detects patterns that name hidden files", () => {
  for (const pattern of [".github/**", "**/.env*", "{a,.b}/c"])
    assert.equal(compileGlob(pattern).hidden, true)
  for (const pattern of ["**/*", "./src/*.ts", "*.ts"]) assert.equal(compileGlob(pattern).hidden, false)
})

for (const [pattern, reason] of [
  ["{a,b", /"{" is not closed/],
  ["[ab", /"\[" is not closed/],
  ["../*.ts", /"\.\." segment/],
  ["/", /empty/],
  ["{a,b}".repeat(10), /too many alternatives/],
  ["a".repeat(1_001), /more than 1000 characters/],
] as const)
  test(`compileGlob() refuses ${pattern.slice(0, 20)}`, () => {
    assert.throws(() => compileGlob(pattern), { name: "InvalidPattern", message: reason })
  })

test("compileGlob() is fast for patterns that make regular expressions backtrack", () => {
  const { matches } = compileGlob(`src/${"*a".repeat(60)}*b`)
  assert.equal(matches(`src/${"a".repeat(250)}`), false)
  const deep = compileGlob(`${"**/a/".repeat(30)}b`)
  assert.equal(deep.matches(`${"a/".repeat(500)}c`), false)
})
