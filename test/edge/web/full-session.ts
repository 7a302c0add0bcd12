// A page with a session that has something of every kind: in its messages, and for each of its panels.
import { call, calls, reasoning, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

export const panels = ["changes", "plan", "branches", "context", "cost", "guards", "stories"]

const markdown = [
  "### The result",
  `It is **done**, see [the site](https://example.org) and \`${"a_very_long_name".repeat(12)}\`.`,
  "> A quote\n\n- [x] one\n- [ ] two\n\n1. first\n2. second",
  `| a | b |\n|---|--:|\n${Array.from({ length: 3 }, (_, i) => `| ${"wide ".repeat(20)} | ${i} |`).join("\n")}`,
  `\`\`\`ts\nexport const port = 3141 // ${"long ".repeat(40)}\n\`\`\``,
  "<details>as written</details>",
].join("\n\n")
const step = (id: string, status: string, after: string[] = []) => ({ id, text: `Step ${id}`, status, after })
const todos = [
  step("one", "done"),
  step("two", "in_progress", ["one"]),
  step("three", "pending", ["one", "two"]),
]
const colours = "printf '\\033[31mred\\033[0m \\033[1;32mgreen\\033[0m \\033[44;97mon blue\\033[0m\\n'"

/** The answers to the session, in order; the task has one of its own. */
const answers: ReturnType<typeof text>[] = [
  call("todo", { todos, title: "The plan", replace: true }),
  call("write", { path: "a.ts", content: "const one = 1\nconst two = 22\n" }),
  call("edit", { path: "a.ts", edits: [{ oldText: "two = 22", newText: "two = 23" }] }),
  calls([call("bash", { command: colours }), call("bash", { command: "git push origin main" })]),
  call("bash", { command: "exit 3" }),
  call("subtask", { task: "count the files" }),
  call("world_run", {}),
  reasoning("I have to look.", text(markdown)),
  text("I see it."),
  text("On another branch."),
  call("bash", { command: "touch b" }),
]

export async function openFullSession(): Promise<Opened & { id: string }> {
  let next = 0
  const t = await openPage(
    ({ messages }) => {
      const last = JSON.stringify(messages.at(-1))
      if (last.includes("count the files") && !last.includes("two")) return text("There are **two** files.")
      return answers[next++] ?? text("Nothing more.")
    },
    {
      args: ["--trust"],
      config: { guards: { "no-push": { block: "bash:git push*", because: "Nobody pushes" } } },
      prepare(tmp) {
        tmp.write(
          ".vitamin/agents/all.md",
          "---\ndescription: Does all\ntools: [read, write, edit, bash, todo, subtask, world_run]\n---\nYou do.\n",
        )
        tmp.write(
          "greeting.stories.ts",
          `const Greeting = ({ name }) => "<h1>Hello " + name + "</h1>"
           export const bad = { intent: "Is wrong", component: Greeting, args: { name: "Bob" }, parameters: { timeout: 30_000 }, play: ({ findByText }) => findByText("Hello Ada") }\n`,
        )
      },
    },
  )
  const { id } = await t.client.createSession({ agent: "all", title: "Everything" })
  await t.client.promptSession({ id, text: "Do *everything*", asks: "once" })
  const value = image("note.png").toString("base64")
  const parts = [
    { type: "image", source: { kind: "base64", value, mimeType: "image/png" }, mode: "auto" } as const,
  ]
  await t.client.promptSession({ id, text: "What is this?", parts, asks: "once" })
  await t.client.switchBranch({ id, name: "other" })
  await t.client.promptSession({ id, text: "Another way", asks: "once" })
  await t.client.switchBranch({ id, name: "main" })
  await t.client.promptSession({ id, text: "Ask me", prefer: "respond-async" })
  await until(async () => (await t.client.listPermissions()).length === 1, "a question is open")
  return Object.assign(t, { id })
}
