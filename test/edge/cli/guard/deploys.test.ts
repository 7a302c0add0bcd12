// `approve-deploy` knows a deploy in other words too. Nobody can be asked here, so each is blocked.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { running } from "./running.ts"

async function blocked(commands: readonly string[]): Promise<string[]> {
  await using tmp = await tmpdir({ git: true })
  const script = [...commands.map((command) => call("bash", { command })), text("Done.")]
  const { sent } = await running(tmp, { guards: { "approve-deploy": {} }, script })
  const { messages } = JSON.parse(sent.at(-1)!) as { messages: { role: string; content: string }[] }
  const results = messages.filter(({ role }) => role === "tool")
  return commands.filter((_, i) => /guard "approve-deploy" blocks it/.test(results[i]!.content))
}

const deploys = [
  "git -C . push",
  "git -c a=b push origin main",
  "git --no-pager -C . -c a=b push",
  "/usr/bin/git push",
  "npm run -s deploy",
  "npm --prefix x run deploy",
  "npm run --prefix x deploy",
  "npm -s run --prefix=x deploy",
  "make -C x deploy",
  "kubectl -n prod apply -f x",
  "env X=1 git push",
  "command git push",
  "for i in 1; do git push; done",
  "if true; then git push; fi",
  'sh -c "git push"',
  "echo | xargs git push",
  "node_modules/.bin/vercel --prod",
  // The parser cannot say what these run.
  "bash <<'END'\ngit push\nEND",
  "echo 'git push' | sh",
  "sudo -i git push",
  'eval "$X" git push',
  `echo \${x:-$((y[1]))}; git push`,
]

test("deploys in other words are blocked", async () => {
  assert.deepEqual(await blocked(deploys), deploys)
})

test("other commands are not taken for a deploy", async () => {
  const others = [
    "git log -1 --format=push || true",
    "git -C . status",
    "echo git push",
    "git commit --allow-empty -qm 'git push later' || true",
    "npm --version",
  ]
  assert.deepEqual(await blocked(others), [])
})
