// What people read about a permission: the question, what is listed below it, and what a rule allows.
import assert from "node:assert/strict"
import { test } from "node:test"
import { needWords, questionWords, ruleWords, targetWords } from "#client/permission-words.ts"
import { permissions } from "#kernel/schema/schema-parts.ts"

const need = (permission: string, target: string) => ({ permission, target })

test("every permission has words for a question, for a need and for a rule", () => {
  for (const permission of permissions) {
    const one = need(permission, "some/target")
    assert.doesNotMatch(questionWords([one]), /^Allow/, permission)
    assert.doesNotMatch(questionWords([one, one]), /^Allow/, permission)
    assert.ok(!needWords(one).includes(permission), permission)
    assert.doesNotMatch(ruleWords(`${permission}:some/target`)!, /^what matches/, permission)
  }
})

test("questionWords() says what is changed, and what the model gets to see", () => {
  assert.equal(questionWords([need("memory.write", "project")]), "Change the memory of this project?")
  assert.equal(questionWords([need("memory.write", "everywhere")]), "Change the memory of all projects?")
  assert.equal(
    questionWords([need("knowledge.write", "project")]),
    "Change the knowledge base of this project?",
  )
  assert.equal(questionWords([need("secret.show", "token")]), "Show the secret token to the model?")
})

test("questionWords() of one need without words asks about this, and the need is listed", () => {
  const needs = [need("new.kind", "thing")]
  assert.equal(questionWords(needs), "Allow this?")
  assert.deepEqual(targetWords(needs), ["new.kind thing"])
})

test("targetWords() lists needs of several kinds with what they do", () => {
  const needs = [need("secret.use", "token"), need("secret.show", "token")]
  assert.equal(questionWords(needs), "Allow all of this?")
  assert.deepEqual(targetWords(needs), ["use the secret token", "show the secret token to the model"])
})

test("ruleWords() names no tool or server that a rule for MCP servers does not name", () => {
  for (const pattern of ["src/", "src", "src/resource:"])
    assert.doesNotMatch(ruleWords(`mcp.call:${pattern}`)!, / {2}|\?/)
  assert.equal(ruleWords("mcp.call:src/"), "calls of MCP servers that match src/")
  assert.equal(ruleWords("mcp.call:src/find"), "calling the tool find of the MCP server src")
})
