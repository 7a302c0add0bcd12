// Command files in the layout of public collections: the same keys and forms, with words of our own.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const layouts: Record<string, { file: string; content: string; typed: string; sent: RegExp; err?: RegExp }> =
  {
    "commit-commands/commit of anthropics/claude-code": {
      file: ".claude/commands/commit.md",
      content:
        "---\nallowed-tools: Bash(git add:*), Bash(git status:*), Bash(git commit:*)\ndescription: Commit\n---\n\n## Context\n\n- Status: !`git status`\n- Diff: !`git diff HEAD --stat`\n- Branch: !`git branch --show-current`\n- Log: !`git log --oneline -10`\n\n## Task\n\nMake one commit.\n",
      typed: "/commit",
      sent: /- Status: On branch [\s\S]*- Log: [0-9a-f]{7}/,
    },
    "dedupe of anthropics/claude-code": {
      file: ".claude/commands/dedupe.md",
      content:
        "---\nallowed-tools: Bash(./scripts/gh.sh:*), Bash(./scripts/comment.sh:*)\ndescription: Find duplicates\n---\n\nFind duplicates of an issue:\n\n1. Use `./scripts/gh.sh issue view 123`\n   ```\n   ./scripts/comment.sh <one> <two>\n   ```\n",
      typed: "/dedupe 12",
      sent: /view 123`[\s\S]*12$/,
    },
    "workflows/smart-fix of wshobson/commands": {
      file: ".claude/commands/workflows/smart-fix.md",
      content:
        '---\nname: Smart Fix\ndescription: Fixes an issue\nallowed_tools:\n  - memory     # to keep notes\n  - filesystem\ntags:\n  - debugging\ncategory: development\nversion: 2.0.0\n---\n\nLook at: "$ARGUMENTS"\n- Prompt: "Fix: $ARGUMENTS."\n',
      typed: "/workflows:smart-fix the slow build",
      sent: /Look at: "the slow build"\n- Prompt: "Fix: the slow build\."/,
    },
    "commit of opencode": {
      file: ".opencode/command/commit.md",
      content:
        "---\ndescription: git commit and push\nmodel: opencode/glm-4.6\nsubtask: true\n---\n\ncommit and push\n\nuse a prefix like\ndocs:\n",
      typed: "/commit",
      sent: /^commit and push\n\nuse a prefix like\ndocs:$/,
      err: /its model "opencode\/glm-4\.6" is not used/,
    },
    "an argument-hint with several parts, as in the documentation of Claude Code": {
      file: ".claude/commands/review-pr.md",
      content:
        "---\nargument-hint: [pr-number] [priority] [assignee]\ndescription: Review pull request\n---\n\nReview PR #$1 with priority $2 and assign to $3.\n",
      typed: '/review-pr 456 "very high" alice',
      sent: /^Review PR #456 with priority very high and assign to alice\.$/,
    },
  }

for (const [name, { file, content, typed, sent, err }] of Object.entries(layouts))
  test(`a command in the layout of ${name} runs unchanged`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(file, content)
    await using llm = await fakeLlm([text("done")])
    const run = await vitamin(tmp, ["run", "--trust", typed], env(llm, "chat").variables)
    assert.equal(run.code, 0, run.err)
    assert.match(llm.requests[0]!.messages.findLast(({ role }) => role === "user")!.text, sent)
    assert.match(run.err, err ?? /^$/)
  })
