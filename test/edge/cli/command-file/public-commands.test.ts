// Commands of published packages, run by the built command as their own installers lay them. docs/commands.md names them.
import assert from "node:assert/strict"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../../../fixture/fake-llm.ts"
import { packages, runInstaller } from "../../../fixture/public-packages.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type World = { tmp: Tmp; prompt: string; err: string; sent: string }

async function withCommands(
  install: (tmp: Tmp) => unknown,
  { typed, script = [] }: { typed: string; script?: Reply[] },
  check: (world: World) => void,
): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  install(tmp)
  await using llm = await fakeLlm([...script, text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--trust", typed], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  const users = llm.requests[0]!.messages.filter(({ role }) => role === "user")
  const sent = llm.requests.map(({ raw }) => raw).join("\n")
  check({ tmp, prompt: users.find(({ text }) => !text.startsWith("<system>"))!.text, err, sent })
}

const createClaude = (tmp: Tmp) => runInstaller(tmp, "create-claude/dist/cli.js", ["init"])

test("/commit of create-claude tells the state of git, and may run git without a question", () =>
  withCommands(
    (tmp) => {
      createClaude(tmp)
      tmp.write("a.txt", "x\n")
      tmp.git("config", "user.name", "t")
      tmp.git("config", "user.email", "t@localhost")
    },
    {
      typed: '/commit "feat: add a"',
      script: [
        call("bash", { command: "git add a.txt" }),
        call("bash", { command: "git commit -qm 'feat: add a'" }),
      ],
    },
    ({ tmp, prompt, err }) => {
      assert.match(prompt, /- Status: .*\n?[\s\S]*\?\? a\.txt/)
      assert.match(prompt, /Stage and commit changes with message: .*feat: add a/)
      assert.match(err, /its model "claude-3-5-haiku-20241022" is not used/)
      assert.equal(tmp.git("log", "-1", "--format=%s").trim(), "feat: add a")
    },
  ))

test("/pr of create-claude has the branch, the log and the difference in its prompt", () =>
  withCommands(
    (tmp) => {
      createClaude(tmp)
      tmp.write("a.txt", "x\n")
      tmp.git("add", "a.txt")
      tmp.git("commit", "-qm", "feat: add a")
    },
    { typed: "/pr" },
    ({ prompt }) => {
      assert.match(prompt, /- Current branch: main/)
      assert.match(prompt, /- Recent commits: [0-9a-f]{7} feat: add a/)
      assert.match(prompt, /- Files changed: .*\n?.*a\.txt \| 1 \+/)
    },
  ))

test("/gsd:add-todo of get-shit-done-cc attaches its workflow", () =>
  withCommands(
    (tmp) => runInstaller(tmp, "get-shit-done-cc/bin/install.js", ["--claude", "--local"]),
    { typed: "/gsd:add-todo write the release notes" },
    ({ prompt, sent, err }) => {
      assert.match(prompt, /Arguments: write the release notes \(optional todo description\)/)
      assert.match(sent, /gsd-sdk query init\.todos/)
      assert.doesNotMatch(err, /not attached|cannot/)
    },
  ))

test("/kiro-spec-init of cc-sdd runs from .opencode/commands", () =>
  withCommands(
    (tmp) => runInstaller(tmp, "cc-sdd/dist/cli.js", ["--opencode", "--lang", "en", "--yes"]),
    { typed: "/kiro-spec-init a page that lists orders" },
    ({ prompt }) => {
      assert.match(prompt, /project description \(a page that lists orders\)/)
      assert.match(prompt, /Read `\.kiro\/settings\/templates\/specs\/init\.json`/)
    },
  ))

test("/last-word of claude-commands is sent as it is", () =>
  withCommands(
    (tmp) =>
      cpSync(
        join(packages, "claude-commands/last-word/last-word.md"),
        join(tmp.env.HOME!, ".claude/commands/last-word.md"),
      ),
    { typed: "/last-word" },
    ({ prompt }) => {
      assert.match(prompt, /^# \/last-word — Session Wrap-Up\n/)
      assert.match(prompt, /## Step 7: Summary/)
    },
  ))
