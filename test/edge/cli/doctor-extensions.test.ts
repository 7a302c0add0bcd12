// The lines of `vitamin doctor` about hooks, commands and plugins.
import assert from "node:assert/strict"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { hooksJson } from "../../engine/hook/harness.ts"
import { vitamin } from "../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

async function doctor(tmp: Tmp): Promise<string> {
  const { out } = await vitamin(tmp, ["doctor"])
  return out.replaceAll(/\n {21}/g, " ")
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

test("vitamin doctor says where hooks, commands and plugins come from, and what is not reviewed or broken", async () => {
  await using tmp = await tmpdir({ git: true })
  const none = await doctor(tmp)
  for (const line of [/^ok +hooks +0 hooks$/m, /^ok +commands +0 commands$/m, /^ok +plugins +none$/m])
    assert.match(none, line)
  tmp.write(".vitamin/hooks.json", hooksJson({ PreToolUse: { matcher: "Bash", command: "true" } }))
  tmp.write(".vitamin/commands/go.md", "Go: !`date`")
  tmp.write(".vitamin/commands/broken.md", "---\nmode: dance\n---\nx")
  const own = join(tmp.env.XDG_CONFIG_HOME!, "vitamin")
  writeFiles(own, { "hooks.json": hooksJson({ Stop: "true", Stopp: "true" }), "commands/mine.md": "Mine." })
  writeFiles(join(tmp.path, "../tools"), {
    "commands/help.md": "Help.",
    "hooks/hooks.json": hooksJson({ Stop: "true" }),
  })
  assert.equal((await vitamin(tmp, ["plugin", "add", "../tools", "--yes"])).code, 0)
  const before = await doctor(tmp)
  assert.match(
    before,
    /^ok +hooks +2 hooks from \S+\/config\/vitamin\/hooks\.json, hooks\/hooks\.json of the plugin tools$/m,
  )
  assert.match(before, /^note +hooks +.*hooks\.Stopp: there is no such event here; did you mean "Stop"\?$/m)
  assert.match(
    before,
    /^note +hooks +\S+\/\.vitamin\/hooks\.json: its hooks are not used: the folder is not trusted/m,
  )
  assert.match(
    before,
    /^ok +commands +3 commands from .*\/config\/vitamin\/commands, commands of the plugin tools$/m,
  )
  assert.match(before, /^note +commands +not reviewed, so without shell lines.*: \/go → vitamin trust$/m)
  assert.match(before, /^note +commands +\S+broken\.md: it is not used: mode: /m)
  assert.match(before, /^ok +plugins +tools 0\.0\.0 of \S+\/tools: commands, hooks$/m)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const after = await doctor(tmp)
  assert.match(after, /^ok +hooks +3 hooks from .*\.vitamin\/hooks\.json/m)
  assert.doesNotMatch(after, /not reviewed, so/)
  const { out } = await vitamin(tmp, ["plugin", "list", "--format", "json"])
  const [{ root }] = JSON.parse(out) as [{ root: string }]
  chmodSync(join(root, "commands/help.md"), 0o600)
  writeFileSync(join(root, "commands/help.md"), "Other.")
  assert.match(
    await doctor(tmp),
    /^bad +plugins +tools 0\.0\.0 of \S+: its files are not as they were installed → vitamin plugin update tools, or/m,
  )
})
