// Proofs of the remaining keys: folders, snapshots, the remote layer, the environment, adapters and scripts.
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startVitamin } from "../../../fixture/cli.ts"
import { call, text } from "../../../fixture/fake-llm.ts"
import { openXterm } from "../../../fixture/xterm.ts"
import { reachable } from "./models.ts"
import { Code, type Proof, type World } from "./proof.ts"

const f2 = "\u001bOQ"
/** Hardly anything else uses it. */
const port = 40_000 + (process.pid % 20_000)
const promote = ["script", "promote", "x.sh", "--yes"]

const tracesSent = ({ web }: World) => web.requests.some(({ path }) => path === "/v1/traces")

export const otherProofs: Record<string, Proof> = {
  "telemetry.enabled": {
    config: (world) => ({ ...reachable(world), telemetry: { endpoint: world.web.url, enabled: false } }),
    seen: tracesSent,
    expected: false,
  },
  "telemetry.endpoint": {
    config: (world) => ({ ...reachable(world), telemetry: { endpoint: world.web.url } }),
    seen: tracesSent,
    expected: true,
  },
  "telemetry.headers": {
    config: (world) => ({
      ...reachable(world),
      telemetry: { endpoint: world.web.url, headers: { "x-team": "search" } },
    }),
    seen: ({ web }) => web.requests[0]?.headers["x-team"],
    expected: "search",
  },
  "telemetry.contents": {
    config: ({ web }) => ({ telemetry: { endpoint: web.url, contents: true } }),
    commands: [["doctor"]],
    seen: (_, { out }) => /traces, with contents, to http/.test(out),
    expected: true,
  },
  "skills.root": {
    config: () => ({ skills: { root: "know-how" } }),
    prepare: ({ tmp }) =>
      void tmp.write("know-how/bake/SKILL.md", "---\nname: bake\ndescription: Bakes bread.\n---\nBake.\n"),
    commands: [["skill", "list"]],
    seen: (_, { out }) => /^bake\b/m.test(out),
    expected: true,
  },
  "rules.root": {
    config: (world) => ({ ...reachable(world), rules: { root: "TEAM.md" } }),
    prepare: ({ tmp }) => void tmp.write("TEAM.md", "Write tests first.\n"),
    seen: ({ llm }) => /Write tests first/.test(llm.requests[0]?.system ?? ""),
    expected: true,
  },
  "rules.own": {
    config: (world) => ({ ...reachable(world), rules: { own: ["~/.claude/CLAUDE.md"] } }),
    prepare: ({ tmp }) => {
      mkdirSync(join(tmp.env.HOME!, ".claude"), { recursive: true })
      writeFileSync(join(tmp.env.HOME!, ".claude/CLAUDE.md"), "Never use tabs.\n")
    },
    seen: ({ llm }) => /Never use tabs/.test(llm.requests[0]?.system ?? ""),
    expected: true,
  },
  snapshot: {
    config: (world) => ({ ...reachable(world), snapshot: false }),
    model: [call("write", { path: "new.txt", content: "new\n" }), text("Done.")],
    commands: [
      ["run", "--yes", "write it"],
      ["session", "diff"],
    ],
    seen: (_, { out }) => /new\.txt/.test(out),
    expected: false,
  },
  "remote.url": {
    config: (world) => ({ ...reachable(world), remote: { url: `${world.web.url}/team.json` } }),
    model: () => text("Fine.", { delay: 100 }),
    seen: ({ web }) => web.requests[0]?.path,
    expected: "/team.json",
  },
  "remote.timeout": {
    config: (world) => ({ ...reachable(world), remote: { url: `${world.web.url}/slow`, timeout: 20 } }),
    model: () => text("Fine.", { delay: 200 }),
    seen: (_, { err }) => /the remote configuration could not be fetched/.test(err),
    expected: true,
  },
  "environment.pass": {
    config: (world) => ({ ...reachable(world), environment: { pass: ["GH_TOKEN"] } }),
    env: { GH_TOKEN: "of-the-person" },
    model: [call("bash", { command: "echo [$GH_TOKEN]" }), text("Done.")],
    commands: [["run", "--yes", "go"]],
    seen: ({ llm }) => /\[of-the-person\]/.test(llm.requests[1]?.raw ?? ""),
    expected: true,
  },
  "terminal.keys": {
    config: (world) => ({ ...reachable(world), terminal: { keys: { "app.newline": "f2" } } }),
    perform: async ({ tmp }, variables) => {
      await using terminal = await openXterm(tmp, [], { env: variables })
      await terminal.sees(/^ask · /m)
      terminal.type(`a${f2}b`)
      await terminal.sees(/^> ab|^ {2}b/m)
      return { code: 0, out: terminal.screen(), err: "" }
    },
    seen: (_, { out }) => /^> a\n {2}b$/m.test(out),
    expected: true,
  },
  "terminal.bell": {
    config: (world) => ({ ...reachable(world), terminal: { bell: false } }),
    model: slowly,
    perform: answerUnseen,
    seen: (_, { out }) => /\u0007\u001b\]9;/.test(out),
    expected: false,
  },
  "terminal.notify": {
    config: (world) => ({ ...reachable(world), terminal: { notify: false } }),
    model: slowly,
    perform: answerUnseen,
    seen: (_, { out }) => out.includes("\u001b]9;"),
    expected: false,
  },
  "terminal.animation": {
    config: (world) => ({ ...reachable(world), terminal: { animation: false } }),
    model: slowly,
    perform: answerUnseen,
    seen: (_, { out }) => /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] working/.test(out),
    expected: false,
  },
  "terminal.theme": {
    config: (world) => ({ ...reachable(world), terminal: { theme: "light" } }),
    model: slowly,
    perform: answerUnseen,
    seen: (_, { out }) => out.includes("38;2;0;120;110m"),
    expected: true,
  },
  "adapters.acp.transport": {
    config: () => ({ adapters: { acp: { transport: "http" } } }),
    perform: startAcp,
    seen: (_, { out }) => /listening on ws:\/\/127\.0\.0\.1:\d+\/acp /.test(out),
    expected: true,
  },
  "adapters.acp.port": {
    config: () => ({ adapters: { acp: { transport: "http", port } } }),
    perform: startAcp,
    seen: (_, { out }) => out.includes(`listening on ws://127.0.0.1:${port}/acp `),
    expected: true,
  },
  "scripts.persistence": {
    config: callbacks,
    commands: [["script", "list"]],
    seen: (_, { out }) => /^loaded +to review/m.test(out),
    expected: true,
  },
  "scripts.load": {
    config: callbacks,
    commands: [["script", "list"]],
    seen: (_, { out }) => /^loaded +to review/m.test(out),
    expected: true,
  },
  "scripts.save": {
    config: callbacks,
    prepare: writeScript,
    commands: [promote],
    seen: ({ outside }) => existsSync(outside("saved.json")),
    expected: true,
  },
  "scripts.path": {
    config: () => ({ scripts: { path: "mine.json" } }),
    prepare: writeScript,
    commands: [promote],
    seen: ({ tmp }) => existsSync(join(tmp.path, "mine.json")),
    expected: true,
  },
  "scripts.expirationDays": {
    config: () => ({ scripts: { expirationDays: 0 } }),
    prepare: writeScript,
    commands: [promote, ["script", "list"]],
    seen: (_, { out }) => /^x +expired/m.test(out),
    expected: true,
  },
}

/** The first line of `vitamin acp`, if it prints one before its client leaves. */
async function startAcp({ tmp }: World, variables: Record<string, string>) {
  await using child = startVitamin(tmp, ["acp"], variables)
  child.process.stdin!.end()
  const out = await child.line(/./).catch(() => "")
  return { code: 0, out, err: child.errors() }
}

function writeScript({ tmp }: World): void {
  tmp.write("x.sh", "echo x\n")
}

function callbacks({ outside }: World) {
  const loaded = { name: "loaded", description: "", language: "sh", code: ["true"] }
  const save = `async (scripts) => appendFileSync(${JSON.stringify(outside("saved.json"))}, JSON.stringify(scripts))`
  return {
    scripts: {
      persistence: "callback",
      load: new Code(`async () => [${JSON.stringify(loaded)}]`),
      save: new Code(save),
    },
  }
}

function slowly() {
  return text("Fine.", { deltas: 5, delay: 200 })
}

/** A turn in a terminal that shows notifications; it ends while the window has no focus. */
async function answerUnseen({ tmp }: World, variables: Record<string, string>) {
  await using terminal = await openXterm(tmp, [], { env: { ...variables, TERM_PROGRAM: "WezTerm" } })
  await terminal.sees(/^ask · /m)
  terminal.type("go\r")
  await terminal.sees(/working/)
  terminal.type("\u001b[O")
  await terminal.sees("Fine.")
  await terminal.sees(/^ask · /m)
  return { code: 0, out: terminal.bytes(), err: "" }
}
