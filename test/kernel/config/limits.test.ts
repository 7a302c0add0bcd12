// Oversized files of an untrusted folder: the command refuses them with a clear message before any work.
import assert from "node:assert/strict"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const keys = Array.from({ length: 50_000 }, (_, i) => `"k${i}": 1`).join(",")
const rules = Array.from({ length: 4_000 }, (_, i) => ({
  permission: "file.read",
  pattern: `a${i}`,
  action: "deny",
}))

for (const [what, content, message] of [
  ["50,000 keys", `{${keys}}`, /config\.jsonc:1:\d+: there are more than 10000 values/],
  ["4,000 rules", JSON.stringify({ permission: rules }), /there are more than 10000 values/],
  ["2 MB", `{}//${"x".repeat(2e6)}`, /config\.jsonc: the file cannot be read: 2000004 bytes are too many/],
  ["1,000 levels", `{"a":${"[".repeat(1_000)}`, /nested deeper than 200 levels/],
] as const)
  test(`a configuration with ${what} is refused, and nothing runs`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(".vitamin/config.jsonc", content)
    tmp.write("a1", "secret")
    for (const command of [
      ["config", "show"],
      ["run", "show a1"],
    ]) {
      const { code, out, err } = await vitamin(tmp, command)
      assert.equal(code, 1)
      assert.match(err, message)
      assert.equal(out, "")
    }
  })
