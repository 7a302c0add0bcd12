// Definitions in many languages, recognised by patterns of their lines.
import assert from "node:assert/strict"
import { test } from "node:test"
import { findSymbols } from "#knowledge/grounding/code-repo.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const find = async (cwd: string, name: string, limit = 100) =>
  (await findSymbols({ cwd, name, limit, accepts: () => true })).items

/** A line, and the kind of what it defines under a name with "target" in it; nothing where it only uses one. */
const cases: Record<string, [line: string, kind: string | undefined][]> = {
  "a.ts": [
    ["export async function targetOf(a: string) {", "function"],
    ["export default class Target<T> extends B {", "type"],
    ["  interface TargetOptions {", "type"],
    ["export type Target = string", "type"],
    ["declare const target: number", "constant"],
    ["export const target = (a) => a", "constant"],
    ["  private async target(a: string): Promise<void> {", "method"],
    ["  #target() {", "method"],
    ["  if (target(a)) {", undefined],
    ["  return target(a)", undefined],
    ["  const inner = target", undefined],
    ["// function without target", undefined],
    ["  await target({", undefined],
  ],
  "a.py": [
    ["    async def get_target(self):", "function"],
    ["class Target(Base):", "type"],
    ["TARGET_SIZE: int = 3", "constant"],
    ["    x = target()", undefined],
  ],
  "a.go": [
    ["func (s *Server) Target(a int) error {", "function"],
    ["func Target[T any](a T) {", "function"],
    ["type Target struct {", "type"],
    ["\treturn target(a)", undefined],
  ],
  "a.rs": [
    ["pub(crate) async unsafe fn target<T>(a: T) {", "function"],
    ["pub enum Target {", "type"],
    ["    const TARGET: u8 = 1;", "constant"],
    ["macro_rules! target {", "macro"],
    ["    let target = 1;", undefined],
  ],
  "A.java": [
    ["public final class Target {", "type"],
    ["    public static Map<String, Integer> target(int a) {", "method"],
    ["    return target(a);", undefined],
  ],
  "a.kt": [["override fun target(a: Int) {", "function"]],
  "a.c": [
    ["static int target(int a)", "function"],
    ["char **find_target(void) {", "function"],
    ["#define TARGET 1", "macro"],
    ["struct target {", "type"],
    ["    x = target(a);", undefined],
    ["int target(int a);", undefined],
  ],
  "a.rb": [
    ["  def self.target?", "function"],
    ["module Target", "type"],
  ],
  "a.php": [["    public static function target(int $a)", "function"]],
  "a.ex": [
    ["  defp target(a) do", "function"],
    ["defmodule My.Target do", "type"],
  ],
  "a.lua": [["local function target(a)", "function"]],
  "a.sh": [["target() {", "function"]],
  "a.sql": [["CREATE TABLE IF NOT EXISTS target (", "type"]],
  "a.proto": [["message Target {", "type"]],
  "a.txt": [["function target() {", undefined]],
}

for (const [file, lines] of Object.entries(cases))
  test(`findSymbols() knows the definitions of ${file}`, async () => {
    await using tmp = await tmpdir()
    tmp.write(file, lines.map(([line]) => line).join("\n"))
    const found = new Map((await find(tmp.path, "target")).map(({ line, kind }) => [line, kind]))
    assert.deepEqual(
      lines.map(([line], i) => [line, found.get(i + 1)]),
      lines,
    )
  })

test("findSymbols() without a name returns all symbols in order", async () => {
  await using tmp = await tmpdir()
  tmp.write("b.ts", "export const b = 1\n\nfunction c() {}\n")
  tmp.write("a.py", "import os\nclass A:\n  pass\n")
  assert.deepEqual(
    (await find(tmp.path, "")).map(({ name, line, kind }) => [name, line, kind]),
    [
      ["a.py", 2, "type"],
      ["b.ts", 1, "constant"],
      ["b.ts", 3, "function"],
    ],
  )
  assert.equal((await findSymbols({ cwd: tmp.path, name: "", limit: 1, accepts: () => true })).more, true)
})

test("findSymbols() takes a name literally, and long lines do not hold it up", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    "a.ts",
    `function plain() {}\nconst $a = 1\n${"a(".repeat(200_000)}plain\n  ${"a ".repeat(140)}plain(\n`,
  )
  assert.deepEqual(
    (await find(tmp.path, "pl.in")).map(({ line }) => line),
    [],
  )
  assert.deepEqual(
    (await find(tmp.path, "$A")).map(({ line }) => line),
    [2],
  )
  assert.deepEqual(
    (await find(tmp.path, "plain")).map(({ line }) => line),
    [1],
  )
})
