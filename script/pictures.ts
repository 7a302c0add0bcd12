// Makes the pictures of docs/terminal.md and docs/agents.md: runs the built command in a terminal with a scripted model, and writes what is on
// the screen as SVG. With --page it makes those of docs/web.md.
//   node script/pictures.ts --write
//   node script/pictures.ts --page
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { byAgent, reject, taskIn } from "../test/engine/orchestrator/harness.ts"
import { call, calls, env, fakeLlm, type Script, stall, text } from "../test/fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../test/fixture/tmpdir.ts"
import { openXterm, type Xterm } from "../test/fixture/xterm.ts"
import { toSvg } from "./pictures/to-svg.ts"

type Scene = {
  name: string
  replies: Script
  args?: string[]
  files?: Record<string, string>
  play(terminal: Xterm, tmp: Tmp): Promise<void>
}

const config = 'export const port = Number(process.env.PORT ?? 3000)\nexport const host = "127.0.0.1"\n'
const answer = `The port is decided in \`src/config.ts:1\`:

\`\`\`ts
export const port = Number(process.env.PORT ?? 3000)
\`\`\`

| setting | default | variable |
|---|---|---|
| port | 3000 | \`PORT\` |
| host | 127.0.0.1 | – |

Set **PORT** to change it.`
const edit = call("edit", {
  path: "src/config.ts",
  edits: [{ oldText: 'host = "127.0.0.1"', newText: 'host = process.env.HOST ?? "127.0.0.1"' }],
})
const delegating = ["--agent", "orchestrator"]
const never = stall(text("never"), 10)
const plan = [
  "1. [librarian] Find every place that reads the port",
  "2. [operator] Read the settings of the service",
  "3. [operator] Make the port a setting (after 1, 2)",
  "4. [operator] Run the tests (after 3)",
].join("\n")

const scenes: Scene[] = [
  {
    name: "answer",
    files: { "src/config.ts": config },
    replies: [
      calls([call("read", { path: "src/config.ts" }), call("grep", { pattern: "port" })]),
      text(answer),
    ],
    async play(terminal) {
      terminal.type("Where is the port decided?\r")
      await terminal.sees("Set PORT to change it.")
      await terminal.sees(/^ask · /m)
    },
  },
  {
    name: "question",
    files: { "src/config.ts": config },
    replies: [edit, text("Done.")],
    async play(terminal) {
      terminal.type("Make the host configurable too\r")
      await terminal.sees(/\[y\]es/)
    },
  },
  {
    name: "completion",
    files: { "src/config.ts": config, "src/server.ts": "", "src/routes/config.ts": "", "docs/setup.md": "" },
    replies: [],
    async play(terminal) {
      terminal.type("Compare @conf")
      await terminal.sees("› ")
    },
  },
  {
    name: "orchestrator",
    files: { "src/config.ts": config },
    args: delegating,
    replies: byAgent({
      orchestrator: () =>
        calls([
          call("delegate", { agent: "librarian", task: "Find where the port is decided" }, { id: "a" }),
          call(
            "delegate",
            { agent: "navigator", task: "Rename host to address in src/config.ts" },
            { id: "b" },
          ),
        ]),
      librarian: (_, turn) => (turn ? never : call("grep", { pattern: "port" })),
      navigator: () => text(reject("operator")),
      operator: (_, turn) => (turn ? never : call("read", { path: "src/config.ts" })),
    }),
    async play(terminal) {
      terminal.type("Where is the port decided? And rename host to address.\r")
      await terminal.sees(/1 call · Search port.*operator: 1 call · Read/s)
    },
  },
  {
    name: "plan",
    files: { "src/config.ts": config },
    args: delegating,
    replies: byAgent({
      orchestrator: () => call("delegate", { agent: "planner", task: "Make the port configurable" }),
      planner: () => text(plan),
      librarian: (_, turn) => (turn ? never : call("grep", { pattern: "port" })),
      operator: (request, turn) =>
        taskIn(request).startsWith("Read")
          ? text("PORT is set.")
          : turn < 2
            ? call("read", { path: "src/config.ts" })
            : never,
    }),
    async play(terminal) {
      terminal.type("Make the port configurable\r")
      await terminal.sees(/step 1, librarian: 1 call · Search port/)
      await terminal.sees(/☑ \[operator\] Read the settings/)
    },
  },
]

if (process.argv.includes("--write")) for (const scene of scenes) await picture(scene)
else if (process.argv.includes("--page")) await pages()
else console.log("node script/pictures.ts --write | --page")

async function pages(): Promise<void> {
  const { picturesOfPage } = await import("./pictures/page.ts")
  await picturesOfPage(fileURLToPath(new URL("../docs/pictures", import.meta.url)))
}

async function picture({ name, replies, args = [], files = {}, play }: Scene): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  for (const [file, content] of Object.entries(files)) tmp.write(file, content)
  await using llm = await fakeLlm(replies)
  // The folder of the person is above the project, so that the status line says "~/project".
  const variables = { ...env(llm, "chat").variables, HOME: dirname(tmp.path) }
  await using terminal = await openXterm(tmp, args, { env: variables, columns: 84, rows: 26 })
  await terminal.sees(/^ask · /m)
  await play(terminal, tmp)
  const file = fileURLToPath(new URL(`../docs/pictures/${name}.svg`, import.meta.url))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, toSvg(terminal.terminal))
  console.log(`${join("docs/pictures", `${name}.svg`)} is written`)
}
