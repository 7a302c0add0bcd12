// What rules say, as tables: wildcards, paths, layers, and what no rule may do.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { Instance } from "#kernel/instance.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Row = [permission: string, pattern: string, target: string, fits: boolean]

const rule = (permission: string, pattern: string, action: Permission.Action) => ({
  permission,
  pattern,
  action,
})
const layer = (source: string, ...rules: Permission.Rule[]) => ({ source, rules })
const actionOf = (permission: string, target: string, ...layers: Permission.Layer[]) =>
  Permission.evaluate({ permission, target }, ...layers).action

const rows: Row[] = [
  ["file.write", "/src/**", "/src/app.ts", true],
  ["file.write", "/src/**", "/src/a/b/c.ts", true],
  ["file.write", "/src/**", "/src", true],
  ["file.write", "/src/**", "/srcs/app.ts", false],
  ["file.write", "/src/**", "/src/../etc/passwd", false],
  ["file.write", "/src/*", "/src/app.ts", true],
  ["file.write", "/src/*", "/src/a/b.ts", false],
  ["file.write", "/src/*.ts", "/src/app.js", false],
  ["file.write", "/src/", "/src/app.ts", true],
  ["file.write", "src/**", "src/app.ts", true],
  ["file.write", "src/**", "/src/app.ts", false],
  ["file.write", "/src/**", "src/app.ts", false],
  ["file.write", "**/*.md", "a.md", true],
  ["file.write", "**/*.md", "docs/deep/a.md", true],
  ["file.write", "**/x/**/y", "a/x/b/x/c/y", true],
  ["file.write", "**", "../outside", false],
  ["file.write", "**", "a/../../outside", false],
  ["file.write", "**", "/etc/passwd", false],
  ["file.write", "*", "a", true],
  ["file.write", "*", "a/b", false],
  ["file.write", "/**", "/etc/passwd", true],
  ["file.write", "a.c", "abc", false],
  ["file.write", "a[bc]", "ab", false],
  ["file.*", "src/**", "src/app.ts", true],
  ["*", "**", "src/app.ts", true],
  ["file.read", "src/**", "src/app.ts", false],
  ["file", "src/**", "src/app.ts", false],
]
for (const [permission, pattern, target, fits] of rows)
  test(`Permission.evaluate() ${permission}:${pattern} ${fits ? "allows" : "says nothing of"} file.write of ${target}`, () => {
    const action = actionOf("file.write", target, layer("user", rule(permission, pattern, "allow")))
    assert.equal(action, fits ? "allow" : "ask")
  })

const others: Row[] = [
  ["network.fetch", "https://a.b/*", "https://a.b/c/d?e", true],
  ["network.fetch", "https://a.b/*", "https://a.bc/d", false],
  ["mcp.call", "github/*", "github/create_issue", true],
  ["mcp.call", "*/create_*", "github/create_issue", true],
  ["agent.delegate", "reviewer", "reviewer", true],
  ["agent.delegate", "review*r", "reviewer2", false],
  ["tool.execute", "*", "deploy", true],
]
for (const [permission, pattern, target, fits] of others)
  test(`Permission.evaluate() ${permission}:${pattern} ${fits ? "fits" : "does not fit"} ${target}`, () => {
    assert.equal(
      actionOf(permission, target, layer("user", rule(permission, pattern, "allow"))),
      fits ? "allow" : "ask",
    )
  })

test("Permission.evaluate() resolves relative patterns from the worktree, and follows no links", async () => {
  await using tmp = await tmpdir({ git: true })
  await Instance.provide({
    directory: tmp.path,
    fn: () => {
      const layers = [layer("user", rule("file.write", "src/**", "allow"))]
      assert.equal(actionOf("file.write", `${tmp.path}/src/a.ts`, ...layers), "allow")
      assert.equal(actionOf("file.write", "src/a.ts", ...layers), "allow")
      assert.equal(actionOf("file.write", `${tmp.path}/srcs/a.ts`, ...layers), "ask")
      assert.equal(actionOf("file.write", `${tmp.path}-other/src/a.ts`, ...layers), "ask")
    },
  })
  await Instance.disposeAll()
})

test("Permission.evaluate() asks if no rule matches, and returns the rule and the layer that decided", () => {
  assert.deepEqual(Permission.evaluate({ permission: "bash.execute", target: "ls" }), { action: "ask" })
  const deny = rule("mcp.call", "*", "deny")
  assert.deepEqual(Permission.evaluate({ permission: "mcp.call", target: "a/b" }, layer("global", deny)), {
    action: "deny",
    rule: deny,
    source: "global",
  })
})

test("Permission.evaluate() lets the last rule win, within a layer and across layers", () => {
  const [allow, deny, ask] = (["allow", "deny", "ask"] as const).map((action) => rule("todo", "*", action))
  const cases: [Permission.Layer[], Permission.Action][] = [
    [[layer("default", allow!), layer("session", deny!)], "deny"],
    [[layer("default", deny!), layer("agent", allow!)], "allow"],
    [[layer("agent", deny!), layer("global", allow!)], "allow"],
    [[layer("global", allow!, deny!)], "deny"],
    [[layer("global", deny!, allow!)], "allow"],
    [[layer("global", ask!), layer("project", allow!)], "allow"],
    [[layer("global", deny!), layer("environment", allow!)], "allow"],
    [[layer("global", deny!), layer("session", allow!)], "allow"],
    [[layer("project", deny!), layer("typescript", allow!)], "allow"],
    [[layer("session", allow!), layer("mode", deny!)], "deny"],
  ]
  for (const [layers, action] of cases)
    assert.equal(actionOf("todo", "*", ...layers), action, JSON.stringify(layers))
})

test("Permission.evaluate() never lets an agent or a project override a person's denial, in any order of rules", () => {
  const weak = ["agent", "project", "typescript"]
  const strong = ["remote", "global", "environment", "inline", "user"]
  const actions: Permission.Action[] = ["allow", "ask", "deny"]
  let seed = 7
  const pick = <T>(list: readonly T[]) => {
    seed = (seed * 48_271) % 2_147_483_647
    return list[seed % list.length]!
  }
  let denied = 0
  for (let round = 0; round < 3_000; round++) {
    const layers = Array.from({ length: 6 }, () => {
      const source = pick([...weak, ...strong])
      return layer(
        source,
        ...Array.from({ length: 2 }, () => rule("mcp.call", pick(["*", "a/*", "b"]), pick(actions))),
      )
    })
    const ofPerson = layers.filter(({ source }) => strong.includes(source))
    if (actionOf("mcp.call", "a/b", ...ofPerson) !== "deny") continue
    denied++
    assert.equal(actionOf("mcp.call", "a/b", ...layers), "deny", JSON.stringify(layers))
  }
  assert.ok(denied > 500)
})

test("Permission.evaluate() treats an incomplete rule as a denial", () => {
  for (const broken of [
    { permission: "file.read", pattern: "**", action: "alow" },
    { permission: "file.read", action: "allow" },
    { permission: "file.read", pattern: "", action: "allow" },
    { pattern: "**", action: "Allow" },
    {},
  ]) {
    const layers = [layer("default", ...Permission.defaults), layer("user", broken as Permission.Rule)]
    assert.equal(actionOf("file.read", "a", ...layers), "deny", JSON.stringify(broken))
  }
})

test('Permission.evaluate() applies a deny rule for "*" to everything', () => {
  for (const permission of ["file.read", "file.*", "*"])
    for (const target of ["a/b/c", "/etc/passwd"])
      assert.equal(actionOf("file.read", target, layer("user", rule(permission, "*", "deny"))), "deny")
})

const ownFiles = [
  ".vitamin/config.jsonc",
  ".vitamin/agents/a.md",
  "sub/.vitamin/x",
  ".plaited/config.ts",
  ".mcp.json",
  ".git/hooks/pre-commit",
  ".VITAMIN/config.jsonc",
  "src/../.mcp.json",
]
for (const target of ownFiles)
  test(`Permission.evaluate() allows to write ${target} only by a rule that names it`, () => {
    for (const permission of ["file.write", "file.edit"]) {
      for (const pattern of ["**", `${target}*`])
        assert.notEqual(actionOf(permission, target, layer("user", rule("*", pattern, "allow"))), "allow")
      assert.equal(actionOf(permission, target, layer("user", rule("file.*", target, "allow"))), "allow")
      assert.equal(actionOf(permission, target, layer("user", rule("file.*", "*", "deny"))), "deny")
      assert.equal(Permission.evaluate({ permission, target }).protected, true)
    }
    assert.equal(actionOf("file.read", target, layer("user", rule("*", "**", "allow"))), "allow")
  })

test("Permission.planner denies writing and running, and nothing else", () => {
  const layers = [
    layer("default", ...Permission.defaults),
    layer("session", rule("*", "*", "allow")),
    layer("mode", ...Permission.planner),
  ]
  for (const permission of ["file.write", "file.edit", "bash.execute", "mcp.call", "tool.execute"])
    assert.equal(actionOf(permission, "x", ...layers), "deny", permission)
  for (const permission of ["file.read", "todo", "agent.delegate", "network.fetch"])
    assert.equal(actionOf(permission, "x", ...layers), "allow", permission)
})

test("Permission.evaluate() handles a thousand rules in time", () => {
  const many = Array.from({ length: 1_000 }, (_, i) => rule("file.write", `dir${i}/**/*.ts`, "allow"))
  const layers = [layer("default", ...Permission.defaults), layer("global", ...many)]
  for (let i = 0; i < 20; i++) assert.equal(actionOf("file.write", "dir999/a/b/c.ts", ...layers), "allow")
})

test("Permission.parseRule() reads permission[:pattern]", () => {
  assert.deepEqual(Permission.parseRule("bash.execute:npm *"), rule("bash.execute", "npm *", "allow"))
  assert.deepEqual(
    Permission.parseRule("network.fetch:https://a/*", "deny"),
    rule("network.fetch", "https://a/*", "deny"),
  )
  assert.deepEqual(Permission.parseRule("file.write"), rule("file.write", "**", "allow"))
  assert.deepEqual(Permission.parseRule("bash.execute"), rule("bash.execute", "*", "allow"))
  assert.deepEqual(Permission.parseRule("file.*:src/**"), rule("file.*", "src/**", "allow"))
  assert.deepEqual(Permission.parseRule("file.write:a "), rule("file.write", "a ", "allow"))
  for (const [text, says] of [
    ["bash.exec:ls", /"bash\.exec" does not exist; did you mean "bash\.execute"/],
    ["fil.*", /"fil\.\*" does not exist; there are file\.read/],
    ["", /"" does not exist/],
    ["bash.execute:", /has no pattern/],
    ["file.read:~/.ssh/**", /"~" is not expanded/],
    ["bash.execute: rm *", /a blank before or after its pattern/],
    ["bash.execute:rm * ", /a blank before or after its pattern/],
    ["file.write: src/**", /a blank before or after its pattern/],
    ["file.write: ", /a blank before or after its pattern/],
  ] as const)
    assert.throws(() => Permission.parseRule(text), { name: "Permission.InvalidRule", message: says })
})

test("Permission.narrowest() returns a rule that allows the same again and is valid in the configuration", async () => {
  await using tmp = await tmpdir({ git: true })
  await Instance.provide({
    directory: tmp.path,
    fn: () => {
      const patterns: [permission: string, target: string, ...patterns: string[]][] = [
        ["file.write", `${tmp.path}/src/a.ts`, "src/a.ts"],
        ["file.write", `${tmp.path}/~/a`, "./~/a"],
        ["file.write", `${tmp.path}/ a `, "./ a "],
        ["file.read", "/etc/hosts", "/etc/hosts"],
        ["file.read", tmp.path, "."],
        ["file.read", "/"],
        ["file.write", `${tmp.path}/a*b`],
        ["bash.execute", "npm   'test'", "npm test"],
        ["bash.execute", "npm test | cat && A=1 cat", "npm test", "cat"],
        ["bash.execute", "npm test > out"],
        ["bash.execute", "git $x"],
        ["bash.execute", "echo '*'"],
        ["network.fetch", "https://a/b", "https://a/b"],
        ["deploy.run", "x"],
      ]
      for (const [permission, target, ...wanted] of patterns) {
        const found = Permission.narrowest({ permission, target })
        assert.deepEqual(
          found.map(({ pattern }) => pattern),
          wanted,
          target,
        )
        Permission.checkLayer(layer("session", ...found))
        for (const one of found) assert.deepEqual(Permission.parseRule(Permission.formatRule(one)), one)
        const action = actionOf(permission, target, layer("session", ...found))
        assert.equal(action, wanted.length ? "allow" : "ask", target)
      }
    },
  })
  await Instance.disposeAll()
})

test("a grant allows a command by itself, not one that another command runs", () => {
  const allow = (pattern: string) => ({ permission: "bash.execute", pattern, action: "allow" as const })
  const layers = [
    { source: "user", rules: [allow("bash *"), allow("timeout *")] },
    { source: "grant", rules: [allow("npm test")] },
  ]
  const judge = (target: string) =>
    Permission.evaluate({ permission: "bash.execute", target }, ...layers).action
  assert.equal(judge("npm test"), "allow")
  assert.equal(judge("bash -c 'npm test'"), "ask")
  assert.equal(judge("timeout 5 npm test"), "ask")
})

test("a deny rule with the name that models see applies to a server with special characters in its name", () => {
  const judge = (action: "allow" | "ask" | "deny", target: string) => {
    const rule = { permission: "mcp.call", pattern: "my_server/get_it", action }
    return Permission.evaluate({ permission: "mcp.call", target }, { source: "agent", rules: [rule] }).action
  }
  for (const target of ["my_server/get_it", "my.server/get it", "my server/get.it"]) {
    assert.equal(judge("deny", target), "deny", target)
    assert.equal(judge("allow", target), target === "my_server/get_it" ? "allow" : "ask", target)
  }
  assert.equal(judge("deny", "my-server/get_it"), "ask")
  const rules = [
    { permission: "mcp.call", pattern: "my.server/*", action: "deny" as const },
    { permission: "mcp.call", pattern: "my_server/*", action: "ask" as const },
  ]
  const need = { permission: "mcp.call", target: "my.server/x" }
  assert.equal(Permission.evaluate(need, { source: "agent", rules }).action, "deny")
})
