// Random layers of rules: what no layer can do, whatever rules it has. A failed round can be repeated by its seed.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { repeat } from "../../fixture/soak.ts"

const strictness = { allow: 0, ask: 1, deny: 2 }
const targets: Record<string, string[]> = {
  "file.write": ["/p/a.txt", "/p/src/b.ts", "/p/.vitamin/config.jsonc"],
  "network.fetch": ["https://a/x", "https://b/"],
  "bash.execute": ["ls", "npm test", "npm test && ls", "sudo npm test", "npm test > /p/a.txt", "echo $(ls)"],
  "agent.delegate": ["scout"],
}
const patterns: Record<string, string[]> = {
  "file.write": ["/**", "*", "**", "/p/a.txt", "/p/src/**", "/p/.vitamin/config.jsonc"],
  "network.fetch": ["*", "https://a/*", "https://a/x", "https://b/"],
  "bash.execute": ["*", "ls", "npm *", "npm test", "sudo *", "echo *"],
  "agent.delegate": ["*", "scout"],
}
const weak = ["agent", "project", "typescript"]
const order = [
  "default",
  "agent",
  "remote",
  "global",
  "project",
  "typescript",
  "environment",
  "grant",
  "session",
  "mode",
]

/** Random, and the same for the same seed. */
function createRandom(seed: number) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    chance: (odds: number) => next() < odds,
    pick: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!,
  }
}
type Random = ReturnType<typeof createRandom>

function someRule(random: Random, exact: boolean): Permission.Rule {
  const permission = random.pick(Object.keys(patterns))
  const all = patterns[permission]!
  const pattern = random.pick(exact ? all.filter((one) => !one.includes("*")) : all)
  const action = exact ? "allow" : random.pick(["allow", "allow", "ask", "deny"] as const)
  return { permission: exact || random.chance(0.9) ? permission : "*", pattern, action }
}

function someLayers(random: Random): Permission.Layer[] {
  return order.flatMap((source) => {
    if (source === "default") return [{ source, rules: Permission.defaults }]
    if (source === "mode") return random.chance(0.1) ? [{ source, rules: Permission.planner }] : []
    const count = random.pick([0, 0, 1, 2, 3])
    return [{ source, rules: Array.from({ length: count }, () => someRule(random, source === "grant")) }]
  })
}

/** In each of many rounds: some need, a chain of layers, and what to say when it does not hold. */
function always(
  holds: (need: Permission.Need, stacks: [Permission.Layer[], ...Permission.Layer[][]]) => boolean,
) {
  for (let seed = 1; seed <= repeat(1_000, 30_000); seed++) {
    const random = createRandom(seed)
    const stacks: [Permission.Layer[], ...Permission.Layer[][]] = [someLayers(random)]
    while (stacks.length < 4 && random.chance(0.5)) stacks.push(someLayers(random))
    for (const [permission, all] of Object.entries(targets))
      for (const target of all)
        assert.ok(
          holds({ permission, target }, stacks),
          `seed ${seed}: ${permission} of ${target}, ${JSON.stringify(stacks)}`,
        )
  }
}

const without = (layers: Permission.Layer[], ...sources: string[]) =>
  layers.map((layer) => (sources.includes(layer.source) ? { ...layer, rules: [] } : layer))
const actionOf = (need: Permission.Need, layers: Permission.Layer[]) =>
  Permission.evaluate(need, ...layers).action

test("a task is never allowed what one of its parents, or its own agent, is not allowed", () => {
  always((need, stacks) => {
    const { action } = Permission.evaluateAll(need, stacks)
    return stacks.every((layers) => strictness[action] >= strictness[actionOf(need, layers)])
  })
})

test("a task may do what all its parents and its own agent may do", () => {
  always((need, stacks) => {
    const { action } = Permission.evaluateAll(need, stacks)
    return stacks.some((layers) => actionOf(need, layers) === action)
  })
})

test("no agent, project or grant overrides a denial of the person", () => {
  always((need, [all]) => {
    // Where the person allows "sudo *" after denying it, what it covers depends on what is allowed behind it.
    const isOwnWrapper = ({ source }: Permission.Layer, { permission, action }: Permission.Rule) =>
      !weak.includes(source) &&
      permission !== "file.write" &&
      action === "allow" &&
      need.permission === "bash.execute"
    const layers = all.map((layer) => ({
      ...layer,
      rules: layer.rules.filter((rule) => layer.source === "grant" || !isOwnWrapper(layer, rule)),
    }))
    const own = actionOf(need, without(layers, ...weak, "grant"))
    return own !== "deny" || actionOf(need, layers) === "deny"
  })
})

test("a grant overrides no denial", () => {
  always((need, [layers]) => {
    const before = actionOf(need, without(layers, "grant"))
    return before !== "deny" || actionOf(need, layers) === "deny"
  })
})

test("a grant allows nothing but what it names", () => {
  always((need, [layers]) => {
    const isOther = ({ permission, pattern }: Permission.Rule) =>
      permission !== need.permission || (pattern !== need.target && permission !== "bash.execute")
    const others = layers.map((layer) =>
      layer.source === "grant" ? { ...layer, rules: layer.rules.filter(isOther) } : layer,
    )
    return actionOf(need, others) === actionOf(need, without(layers, "grant"))
  })
})
