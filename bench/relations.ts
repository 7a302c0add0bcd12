// Relations in memory: what adding a million nodes costs beside putting the same objects into a Map, what they weigh, and
// how quick questions are. Each run is a process of its own, since what an earlier one left behind would count.
import { execFileSync } from "node:child_process"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { median, report } from "./measure.ts"

const count = 1_000_000
const rounds = 5
const parentOf = {
  "a tree": (i: number) => (i - 1) >> 1,
  "one plan": () => 0,
  "a chain": (i: number) => i - 1,
}
type Shape = keyof typeof parentOf
const runs = { floor, ours, weight, ancestors, cycle }
type Kind = keyof typeof runs

const [kind, shape] = process.argv.slice(2) as [Kind | undefined, Shape]
if (kind) console.log(runs[kind](shape))
else compareAll()

function compareAll() {
  for (const shape of Object.keys(parentOf) as Shape[]) {
    const times = Array.from({ length: rounds }, () => [inProcess("floor", shape), inProcess("ours", shape)])
    const [bare, own] = [0, 1].map((i) => median(times.map((pair) => pair[i]!)))
    report(`relations: add 1 000 000, ${shape} (floor: Map.set)`, own!, bare!, "ms", 2)
    judge(`relations: 1 000 000 nodes, ${shape}`, inProcess("weight", shape), { most: 600, unit: "MB" })
  }
  const deep = inProcess("ancestors", "a chain")
  judge("relations: ancestors of a node 1 000 levels deep", deep, { most: 1, unit: "ms" })
  const check = inProcess("cycle", "a tree")
  judge("relations: cycle check among 1 000 000", check, {
    most: 0.1,
    unit: "ms",
  })
}

function floor(shape: Shape): number {
  const nodes = nodesOf(shape)
  const map = new Map<string, object>()
  return workOf(() => {
    for (const node of nodes) map.set(node.id, node)
  })
}

function ours(shape: Shape): number {
  const nodes = nodesOf(shape)
  const store = createRelationStore()
  return workOf(() => {
    for (const node of nodes) store.add(node)
  })
}

/** The whole process, with nothing in it but the store, after a question for which it makes an index. */
function weight(shape: Shape): number {
  const store = createRelationStore()
  for (let i = 0; i < count; i++) store.add(nodeAt(i, shape))
  store.children(`node-${count - 1}`)
  globalThis.gc?.()
  const megabytes = process.memoryUsage.rss() / 1e6
  return store.size() === count ? megabytes : Number.NaN
}

function ancestors(shape: Shape): number {
  const store = createRelationStore()
  for (let i = 0; i <= 1_000; i++) store.add(nodeAt(i, shape))
  const times = Array.from({ length: 50 }, () => timeOf(() => store.ancestors("node-1000")))
  return times[0]! > 0 && store.ancestors("node-1000").length === 1_000 ? median(times.slice(5)) : Number.NaN
}

function cycle(shape: Shape): number {
  const store = createRelationStore()
  for (let i = 0; i < count; i++) store.add(nodeAt(i, shape))
  const ask = () => store.wouldCreateCycle(`node-${(count >> 1) - 1}`, [`node-${count - 2}`])
  ask()
  return median(Array.from({ length: 50 }, () => timeOf(ask)))
}

function nodesOf(shape: Shape) {
  const nodes = Array.from({ length: count }, (_, i) => nodeAt(i, shape))
  globalThis.gc?.()
  return nodes
}

function nodeAt(i: number, shape: Shape) {
  return {
    id: `node-${i}`,
    parents: i ? [`node-${parentOf[shape](i)}`] : [],
    edgeType: "step",
    context: { description: `Do thing ${i}`, status: "pending" as const },
  }
}

/** Milliseconds of the processor, all threads: what else the machine does is not counted, but clearing up behind us is. */
function workOf(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

function timeOf(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function judge(what: string, value: number, { most, unit }: { most: number; unit: string }) {
  const isMet = value <= most
  console.log(`${what}: ${value.toFixed(2)} ${unit} (goal ${most})${isMet ? "" : " MISSED"}`)
  if (!isMet) process.exitCode = 1
}

function inProcess(kind: Kind, shape: Shape): number {
  const args = ["--expose-gc", import.meta.filename, kind, shape]
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }))
}
