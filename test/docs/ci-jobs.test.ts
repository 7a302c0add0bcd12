// The jobs of docs/ci.md: their YAML has few rights and no text of others in shell lines, and their shell steps run for real
// on a repository, with a scripted model. Steps that install packages or call a forge are left out.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text as readText } from "node:stream/consumers"
import { test } from "node:test"
import { parse } from "yaml"
import { command } from "../fixture/cli.ts"
import { call, env, fakeLlm, type Script, text } from "../fixture/fake-llm.ts"
import { noServers } from "../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

type Step = { name?: string; uses?: string; run?: string; env?: Record<string, string> }
type Workflow = { on: unknown; permissions: Record<string, string>; jobs: Record<string, { steps: Step[] }> }
type GitLab = Record<string, { script?: string[]; extends?: string }>

const guide = readFileSync(new URL("../../docs/ci.md", import.meta.url), "utf8")
const files = new Map(
  [...guide.matchAll(/^```yaml\n# (\S+)\n(.*?)^```$/gms)].map(([, name, yaml]) => [name!, yaml!] as const),
)
const workflows = [...files].filter(([name]) => name.startsWith(".github/"))
const leftOut = /^npm install -g|^gh /

/** A repository whose test fails, on a branch with one change. */
async function project(): Promise<Tmp & { base: string }> {
  const tmp = await tmpdir({ git: true })
  tmp.write("package.json", JSON.stringify({ name: "p", type: "module", scripts: { test: "node check.js" } }))
  tmp.write("port.js", "export const port = (env) => Number(env.PORT) ?? 3000\n")
  tmp.write(
    "check.js",
    'import { port } from "./port.js"\nif (port({}) !== 3000) throw new Error("port is not 3000")\n',
  )
  tmp.git("add", "-A")
  tmp.git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "test(p): add a port")
  const base = tmp.git("rev-parse", "HEAD~1").trim()
  // As the runner finds them on its PATH.
  mkdirSync(join(tmp.path, "../bin"))
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`
  writeFileSync(join(tmp.path, "../bin/vitamin"), shim, { mode: 0o755 })
  mkdirSync(join(tmp.path, "../temp"))
  return Object.assign(tmp, { base })
}

async function shell(tmp: Tmp, lines: string, variables: Record<string, string>) {
  const path = `${join(tmp.path, "../bin")}:${join(process.execPath, "..")}:${tmp.env.PATH}`
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", lines], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...variables, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [out, err] = await Promise.all([readText(child.stdout), readText(child.stderr), once(child, "close")])
  return { code: child.exitCode, out, err }
}

const fixIt = [
  call("read", { path: "port.js" }),
  call("edit", {
    path: "port.js",
    edits: [{ oldText: "Number(env.PORT) ?? 3000", newText: "Number(env.PORT ?? 3000)" }],
  }),
  text("The default is inside the conversion now."),
]
const scripts: Record<string, Script> = {
  review: [text('{"verdict":"comment","markdown":"`port.js:1` is NaN without PORT."}')],
  fix: fixIt,
  answer: [call("read", { path: "port.js" }), text("See `port.js:1`.")],
}
/** What the forge fills in. */
const filled: Record<string, (base: string) => string> = {
  BASE: (base) => base,
  TITLE: () => "Port $(touch pwned) `touch pwned`",
  BODY: () => "'; touch pwned; #",
}

for (const [name, yaml] of workflows) {
  const workflow = parse(yaml) as Workflow
  const [job] = Object.keys(workflow.jobs)
  const { steps } = workflow.jobs[job!]!

  test(`docs/ci.md ${name} asks for few rights and puts no text of others into a shell line`, () => {
    assert.equal(workflow.permissions.contents, "read")
    assert.ok(Object.values(workflow.permissions).length <= 2)
    assert.doesNotMatch(JSON.stringify(workflow.on), /pull_request_target/)
    for (const { run = "", env: own = {}, uses, name: step } of steps) {
      assert.doesNotMatch(run, /\$\{\{/, `${step} has an expression in its shell line`)
      if (/vitamin run/.test(run))
        assert.ok(!("GH_TOKEN" in own) && /--sandbox/.test(run) && /--max-cost/.test(run))
      if (uses?.startsWith("actions/checkout")) assert.match(yaml, /persist-credentials: false/)
    }
  })

  test(`docs/ci.md ${name}: its shell steps work`, async () => {
    await using tmp = await project()
    await using llm = await fakeLlm(scripts[job!]!)
    const { variables } = env(llm, "chat")
    const runnable = steps.filter(({ run }) => run && !leftOut.test(run))
    assert.equal(runnable.length, 1)
    for (const { run, env: own = {} } of runnable) {
      const given = Object.fromEntries(
        Object.keys(own).flatMap((key) => (filled[key] ? [[key, filled[key](tmp.base)]] : [])),
      )
      const ran = await shell(tmp, run!, { ...variables, ...given, RUNNER_TEMP: join(tmp.path, "../temp") })
      assert.equal(ran.code, 0, ran.err + ran.out)
    }
    const made = (file: string) => readFileSync(join(tmp.path, "../temp", file), "utf8")
    if (job === "review") {
      assert.equal(made("review.md"), "`port.js:1` is NaN without PORT.\n")
      assert.match(llm.requests[0]!.raw, /export const port/)
    }
    if (job === "fix")
      assert.match(made("fix.patch"), /^\+export const port = \(env\) => Number\(env\.PORT \?\? 3000\)$/m)
    if (job === "answer") {
      assert.equal(made("answer.md"), "See `port.js:1`.\n")
      assert.match(llm.requests[0]!.raw, /Port \$\(touch pwned\)/)
    }
    assert.doesNotMatch(tmp.git("status", "--porcelain"), /pwned/)
  })
}

const gitlab = parse(files.get(".gitlab-ci.yml")!) as GitLab

for (const [job, makes] of [
  ["review", "review.md"],
  ["fix", "fix.patch"],
  ["answer", "answer.md"],
] as const)
  test(`docs/ci.md .gitlab-ci.yml: the script of ${job} works`, async () => {
    await using tmp = await project()
    const script: Script = job === "review" ? [text("`port.js:1` is NaN.")] : scripts[job]!
    await using llm = await fakeLlm(script)
    const given = { CI_MERGE_REQUEST_DIFF_BASE_SHA: tmp.base, QUESTION: "Which port? $(touch pwned)" }
    // The runner joins the lines of a script into one.
    const lines = gitlab[job]!.script!.join("\n")
    assert.match(lines, /--sandbox/)
    const ran = await shell(tmp, lines, { ...env(llm, "chat").variables, ...given })
    assert.equal(ran.code, 0, ran.err + ran.out)
    assert.match(readFileSync(join(tmp.path, makes), "utf8"), /port/)
    assert.doesNotMatch(tmp.git("status", "--porcelain"), /pwned/)
  })

test("docs/ci.md: a job fails with the exit code of vitamin", async () => {
  await using tmp = await project()
  await using llm = await fakeLlm(() => text("no JSON"))
  const [, yaml] = workflows.find(([name]) => name.endsWith("review.yml"))!
  const { run } = (parse(yaml) as Workflow).jobs.review!.steps.find(({ name }) => name === "Review")!
  const temp = { RUNNER_TEMP: join(tmp.path, "../temp"), BASE: tmp.base }
  const ran = await shell(tmp, run!, { ...env(llm, "chat").variables, ...temp })
  assert.equal(ran.code, 1)
  assert.match(ran.err, /does not fit the output schema in 3 tries/)
})
