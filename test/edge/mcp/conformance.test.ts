// The protocol's conformance suite against `vitamin mcp serve --http`: every scenario for features that our server has
// passes, in both versions of the suite. The others are listed with the reason.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { startRelay } from "../../fixture/mcp/relay.ts"
import { type Line, type Outcome, passedOf, runSuite } from "../../fixture/mcp/run-suite.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { overHttp } from "./harness.ts"

const tools = readFileSync(new URL("../../fixture/mcp/conformance-tools.mjs", import.meta.url), "utf8")

/** Scenarios for features that our server does not have. */
const notOffered: Record<string, string[]> = {
  "it offers tools, and no resources": [
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "sep-2164-resource-not-found",
  ],
  "it offers tools, and no prompts": [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "completion-complete",
    "input-required-result-non-tool-request",
  ],
  "tools answer with text, images and data": [
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
  "its log is its own": ["logging-set-level", "tools-call-with-logging"],
  "it asks a client for no model and for no folders": [
    "tools-call-sampling",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-capability-check",
  ],
  "the one thing that it asks a person is whether a call is allowed, in a form of its own": [
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-ignore-extra-params",
  ],
  "a stream that broke is not resumed": ["server-sse-polling"],
  "it wants no arguments as headers": ["http-custom-header-server-validation"],
  "tasks are an extension": [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
  ],
}
/** Scenarios with several checks, of which our server can pass only some. */
const partly: Record<string, Outcome> = {
  // The scenario wants a tool that requires sampling (a model of the client). Our tools require elicitation (a person).
  "server-stateless": { passed: 27, failed: 1 },
  // Our server has no lists of resources, templates and prompts.
  caching: { passed: 4, failed: 3 },
}
const of2025 = [
  "server-initialize",
  "ping",
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-error",
  "tools-call-with-progress",
  "tools-call-elicitation",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
  "json-schema-2020-12",
]
const cases: Record<string, { line: Line; args: string[]; passed: string[] }> = {
  "of the suite 0.1": { line: "0.1", args: ["--suite", "all"], passed: of2025 },
  "of the suite 0.2 for 2025-11-25": {
    line: "0.2",
    args: ["--requirements", "2025-11-25"],
    passed: [...of2025, "server-session-lifecycle"],
  },
  "of the suite 0.2 for 2026-07-28": {
    line: "0.2",
    args: ["--requirements", "2026-07-28"],
    passed: [
      "tools-list",
      "tools-call-simple-text",
      "tools-call-image",
      "tools-call-error",
      "tools-call-with-progress",
      "server-sse-multiple-streams",
      "dns-rebinding-protection",
      "input-required-result-request-state",
      "input-required-result-missing-input-response",
      "input-required-result-result-type",
      "input-required-result-unsupported-methods",
      "input-required-result-tampered-state",
      "input-required-result-validate-input",
      "json-schema-2020-12",
      "http-header-validation",
    ],
  },
}

test("vitamin mcp serve passes every conformance scenario for features that it has", async (t) => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.ts", `${tools}\nexport default {}\n`)
  mkdirSync(join(tmp.path, "node_modules"))
  symlinkSync(dirname(fileURLToPath(import.meta.resolve("zod"))), join(tmp.path, "node_modules/zod"))
  await using served = await overHttp(tmp, { args: ["--trust"] })
  await using relay = await startRelay(served)
  const missing = Object.values(notOffered).flat()
  for (const [name, { line, args, passed }] of Object.entries(cases))
    await t.test(name, async (t) => {
      const report = await runSuite({ line, args: ["server", "--url", relay.url, ...args], cwd: tmp.path })
      const { scenarios, output } = report
      const all = Object.keys(scenarios)
      const offered = all.filter((one) => !missing.includes(one))
      const good = passedOf(report).filter((one) => offered.includes(one))
      t.diagnostic(`${offered.length} of ${all.length} scenarios have an offer. ${report.total}`)
      const told = output.slice(-6_000)
      assert.deepEqual(good.sort(), passed.toSorted(), told)
      for (const one of offered.filter((one) => !passed.includes(one)))
        assert.deepEqual({ [one]: scenarios[one] }, { [one]: partly[one] }, told)
    })
})
