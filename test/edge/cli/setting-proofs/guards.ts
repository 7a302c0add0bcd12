// Proofs of the guards: what `vitamin run` reports as blocked, with the key and without it.
import { call, type Reply, text } from "../../../fixture/fake-llm.ts"
import { reachable } from "./models.ts"
import type { Proof, World } from "./proof.ts"

const usage = { input: 1_000_000, output: 500_000 }
const done = text("Done.")
const write = (path: string) => call("write", { path, content: `${path}\n` })
const edit = call("edit", { path: "README.md", edits: [{ oldText: "fixture", newText: "x" }] })

/** `seen`: how often something was blocked. */
function blocks(
  guards: Record<string, object>,
  model: Reply[],
  more: { other?: unknown; expected?: number; facts?: object } = {},
): Proof {
  return {
    config: (world) => ({ ...reachable(world, more.facts), guards }),
    prepare: ({ tmp }: World) => void tmp.write(".env", "KEY=1\n"),
    commands: [["run", "--yes", "go"]],
    model,
    seen: (_, { err }) => err.match(/^vitamin: guard "[\w-]+" (blocked|held back)/gm)?.length ?? 0,
    expected: more.expected ?? 1,
    ...("other" in more ? { other: more.other } : {}),
  }
}

/** `enabled`: the guard is on, and then off. */
function enabled(name: string, options: object, model: Reply[], expected = 1): Record<string, Proof> {
  const guards = { [name]: { ...options, enabled: true } }
  return { [`guards.${name}.enabled`]: blocks(guards, model, { other: false, expected }) }
}

const tested = [write("a.txt"), text("Finished."), call("bash", { command: "true" }), done]
/** The third answer in a row ends the turn. */
const edited = [write("a.ts"), done, done, done]
const afterSecret = [call("read", { path: ".env" }), call("fetch", { url: "http://127.0.0.1:9/" }), done]
const deploy = [call("bash", { command: "echo deploy" }), done]
const twice = [write("a.txt"), write("b.txt"), done]
const same = [call("ls"), call("ls"), done]
const spending = (reply: Reply) => ({ ...reply, usage })

const own = { block: "write", because: "it is late" }
const ownProofs: Record<string, Proof> = {
  "guards.*.enabled": blocks({ own: { ...own, enabled: true } }, [write("a.txt"), done], { other: false }),
  "guards.*.when": blocks({ own: { ...own, when: "ls.done" } }, [write("a.txt"), call("ls"), done], {
    expected: 0,
  }),
  "guards.*.block": blocks({ own }, [write("a.txt"), done], { other: "edit" }),
  "guards.*.until": blocks({ own: { ...own, until: "ls.done" } }, [call("ls"), write("a.txt"), done], {
    expected: 0,
  }),
  "guards.*.because": {
    ...(blocks({ own }, [write("a.txt"), done]) as Extract<Proof, { seen: unknown }>),
    seen: (_: World, { err }: { err: string }) => /it is late/.test(err),
    expected: true,
    other: "it is early",
  },
  "guards.*.each": blocks(
    { own: { block: "edit", until: "read.done", because: "read it first", each: "path" } },
    [call("read", { path: ".env" }), edit, done],
  ),
}

export const guardProofs: Record<string, Proof> = {
  ...ownProofs,
  ...enabled("read-before-edit", {}, [edit, done]),
  "guards.read-before-edit.paths": blocks({ "read-before-edit": { paths: "*.md" } }, [edit, done], {
    other: "src/**",
  }),
  ...enabled("tests-before-answer", { command: "true" }, tested),
  "guards.tests-before-answer.command": blocks({ "tests-before-answer": { command: "true" } }, tested, {
    other: "false",
  }),
  "guards.tests-before-answer.paths": blocks(
    { "tests-before-answer": { command: "true", paths: "*.txt" } },
    tested,
    { other: "src/**" },
  ),
  ...enabled("stories-before-answer", {}, edited, 3),
  "guards.stories-before-answer.paths": blocks({ "stories-before-answer": { paths: "*.ts" } }, edited, {
    other: "src/**",
    expected: 3,
  }),
  ...enabled("approve-deploy", { command: "echo deploy*" }, deploy),
  "guards.approve-deploy.command": blocks({ "approve-deploy": { command: "echo deploy*" } }, deploy, {
    other: "make deploy",
  }),
  ...enabled("no-network-after-secret", {}, afterSecret),
  "guards.no-network-after-secret.block": blocks(
    { "no-network-after-secret": { block: "fetch" } },
    afterSecret,
    { other: "mcp.call" },
  ),
  ...enabled("look-at-diff", { writes: 1 }, twice),
  "guards.look-at-diff.writes": blocks({ "look-at-diff": { writes: 1 } }, twice, { other: 2 }),
  "guards.look-at-diff.look": blocks(
    { "look-at-diff": { writes: 1, look: "ls.done" } },
    [write("a.txt"), call("ls"), write("b.txt"), done],
    { expected: 0 },
  ),
  ...enabled("no-repeats", { times: 1 }, same),
  "guards.no-repeats.times": blocks({ "no-repeats": { times: 1 } }, same, { other: 2 }),
  ...enabled("plan-before-act", {}, [write("a.txt"), done]),
  "guards.plan-before-act.act": blocks({ "plan-before-act": { act: "ls" } }, [call("ls"), done], {
    other: "glob",
  }),
  ...enabled("budget", { tokens: 1_000 }, [spending(call("ls")), done]),
  "guards.budget.tokens": blocks({ budget: { tokens: 1_000 } }, [spending(call("ls")), done], {
    other: 10_000_000,
  }),
  "guards.budget.cost": blocks({ budget: { cost: 0.5 } }, [spending(call("ls")), done], {
    other: 100,
    facts: { cost: { input: 1, output: 2 } },
  }),
}
