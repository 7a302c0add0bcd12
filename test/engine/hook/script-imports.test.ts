// The review of a hook covers the files that its script loads: what a shell sources and what Python imports.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Trust from "#kernel/trust/trust.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { resultsOf } from "../session/harness.ts"
import { notedIn, noteIn, withReviewed } from "./harness.ts"

const note = `${noteIn("log")}\n`
const python =
  'import os, sys\nopen(os.environ["CLAUDE_PROJECT_DIR"] + "/log", "a").write(sys.stdin.read() + "\\n")\n'
const cases: Record<string, { command: string; files: Record<string, string>; loaded: string }> = {
  "a path from the project": {
    command: "bash tools/check.sh",
    files: { "tools/check.sh": "set -e\nsource tools/lib.sh\n", "tools/lib.sh": note },
    loaded: "tools/lib.sh",
  },
  "a path from its own folder": {
    command: "sh tools/check.sh",
    files: { "tools/check.sh": '[ -n "$0" ] && . "$(dirname "$0")/lib/rules"\n', "tools/lib/rules": note },
    loaded: "tools/lib/rules",
  },
  "a folder in a variable": {
    command: "bash tools/check",
    files: {
      "tools/check": `#!/usr/bin/env bash\nDIR="$(cd "$(dirname "\${BASH_SOURCE[0]}")" && pwd)"\nsource "\${DIR}/a.sh"\n`,
      "tools/a.sh": '. "$DIR/b.sh"\n',
      "tools/b.sh": note,
    },
    loaded: "tools/b.sh",
  },
  "a module of Python": {
    command: "python3 tools/check.py",
    files: { "tools/check.py": "import json, rules\n", "tools/rules.py": python },
    loaded: "tools/rules.py",
  },
  "a package of Python": {
    command: "python3 tools/check.py",
    files: {
      "tools/check.py": "from rules.deny import (\n  names,\n)\n",
      "tools/rules/__init__.py": "from . import deny\n",
      "tools/rules/deny.py": `names = []\n${python}`,
    },
    loaded: "tools/rules/deny.py",
  },
}

for (const [name, { command, files, loaded }] of Object.entries(cases))
  for (const how of ["changed", "removed"] as const)
    test(`a hook whose script loads ${name} does not run once that file was ${how}`, async () => {
      const commands = { PreToolUse: { matcher: "LS", command } }
      let change = () => {}
      const second = () => {
        change()
        return call("ls")
      }
      await withReviewed({ commands, files }, [() => call("ls"), second, () => text("ok")], async (world) => {
        assert.deepEqual(await Trust.pending(world.tmp.path), [])
        change = () =>
          how === "changed"
            ? void world.tmp.write(loaded, "true\n")
            : rmSync(join(world.tmp.path, loaded), { force: true })
        await world.ask("go", { asks: "once" })
        assert.equal(notedIn(world, "log").length, 1)
        const [, result] = resultsOf(await world.messages())
        const why = how === "changed" ? "it changed since" : "it was removed since"
        assert.match(String(result!.output), new RegExp(`blocks it: .* it runs ${loaded}: ${why}`))
      })
    })
