import assert from "node:assert/strict"
import { test } from "node:test"
import { succeededCommands } from "#ability/permission/permission.ts"

for (const [line, expected] of [
  ["npm test", ["npm test"]],
  ["npm  test -- 'a b'", ["npm test -- a b"]],
  ["cd app && npm test 2>&1", ["cd app", "npm test"]],
  ["npm run build; npm test", ["npm test"]],
  ["npm run build\nnpm test", ["npm test"]],
  ["CI=1 npm test > log", ["npm test"]],
  ["npm test | tail -3", ["tail -3"]],
  ["npm test; true", ["true"]],
  ["npm test || true", []],
  ["false || npm test && true", []],
  ["! npm test", []],
  ["npm test &", []],
  ["(npm test)", []],
  ["if npm test; then true; fi", []],
  ["for x in 1 2; do npm test; done", []],
  ["npm test 'unclosed", []],
  ["npm() { true; }; npm test", []],
  ["alias npm=true; npm test", []],
  ["trap 'exit 0' EXIT; npm test", []],
  ["exit 0; npm test", []],
  ["set -n; npm test", []],
  ["true && npm() { true; } && npm test", []],
  ["{ npm() { true; }; }; npm test", []],
  ["if :; then exit 0; fi; npm test", []],
  ["case a in a) exit 0;; esac; npm test", []],
  ["command exit 0; npm test", []],
  ["builtin trap 'exit 0' EXIT; npm test", []],
  ["printf -v PATH /tmp/fake; npm test", []],
  ["npm test --help", []],
  ["node --test --help", []],
  ["PATH=/tmp/fake:$PATH npm test", []],
  ["", []],
] as const)
  test(`succeededCommands() of ${JSON.stringify(line)}`, () => {
    assert.deepEqual(succeededCommands(line), expected)
  })
