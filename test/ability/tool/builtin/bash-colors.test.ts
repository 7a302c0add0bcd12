// Colours of a command, through the gate: the text has none, and people get them by their places in it.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Result } from "#ability/tool/run-tool.ts"
import { withColors } from "#client/with-colors.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { call, free, inProject } from "../harness.ts"

const run = (command: string) => call("bash", { command }, { slots: free })
/** Each piece of the text with its style: `<1;31>red<>`. */
const shown = ({ text, colors }: Result) =>
  withColors(text, colors).replace(/\u001b\[0;?([\d;]*)m/g, (_, codes) => `<${codes}>`)

const cases: [what: string, printf: string, wanted: string][] = [
  ["no colours", "plain\\n", "plain\n"],
  ["colours and marks", "\\e[1;31mred\\e[22m thin\\e[0m rest\\n", "<1;31>red<31> thin<> rest\n"],
  ["an empty reset", "\\e[4mline\\e[m\\n", "<4>line<>\n"],
  [
    "256 colours",
    "\\e[38;5;208;1mo\\e[48;5;17mn\\e[39;49m.\\n",
    "<1;38;5;208>o<1;38;5;208;48;5;17>n<1>.\n<>",
  ],
  ["true colours", "\\e[38;2;1;2;3ma\\e[38:2::4:5:6mb\\e[0m\\n", "<38;2;1;2;3>a<38;2;4;5;6>b<>\n"],
  ["an underline with colons", "\\e[4:3mw\\e[4:0mx\\n", "<4>w<>x\n"],
  ["characters of many bytes", "Grü\\e[32mße 🚀\\e[0m你\\n", "Grü<32>ße 🚀<>你\n"],
  ["concealed and blinking text is plain", "\\e[8mhidden\\e[5m!\\e[0m\\n", "hidden!\n"],
  ["other sequences", "\\e]0;t\\a\\e[2J\\e[1;1Ha\\e[32mb\\e[0K\\e[?25l\\n", "a<32>b\n<>"],
  [
    "numbers that are no style",
    "\\e[31;999;12345678912345mr\\e[38;5;999mr\\e[38;5mr\\e[>4;2mr\\n",
    "<31>rrrr\n<>",
  ],
  ["a line that is drawn again", "\\e[31m10%%\\r\\e[32m100%%\\e[0m done\\n", "<32>100%<> done\n"],
  ["a line that is drawn again without colours", "\\e[31m10\\e[0m%%\\rdone\\n", "done\n"],
  ["a backspace", "a\\e[31mbc\\b\\b\\bd\\e[0me\\n", "<31>d<>e\n"],
  ["a style that is on at the end", "\\e[33mon\\n", "<33>on\n<>"],
  ["bytes that are no text", "\\e[31m\\xff\\xfe\\n", "\uFFFD\uFFFD\n"],
]
for (const [what, text, wanted] of cases)
  test(`bash: ${what}`, async () => {
    await inProject(async () => {
      for (const command of [
        `printf '${text}'`,
        // In small pieces, so that sequences and characters are cut.
        `printf '${text}' | while IFS= read -r -N 1 -d '' c; do printf %s "$c"; sleep 0.001; done`,
      ]) {
        const result = await run(command)
        assert.equal(shown(result), wanted, command)
        assert.doesNotMatch(result.text, /\u001b/)
      }
    })
  })

test("bash: a secret that colours split is redacted, and its colours are those of the label", async () => {
  await inProject(async () => {
    Secret.register("split-secret-0123", "test key")
    const result = await run("printf 'a \\e[31msplit-\\e[32msecret-\\e[33m0123\\e[0m b \\e[34mc\\e[0m\\n'")
    assert.equal(result.text, "a [test key] b c\n")
    assert.match(shown(result), /^a <31>\[test key\]<> b <34>c<>\n$/)
    assert.doesNotMatch(JSON.stringify([result.text, result.colors]), /split|0123/)
  })
})

test("bash: digits of a secret cannot pass as codes", async () => {
  await inProject(async () => {
    Secret.register("1031103210331034", "number")
    const result = await run("printf '\\e[1031103210331034mx\\e[10;31;10;32;10;33;10;34my\\n'")
    assert.deepEqual(result.colors, [
      [1, "34"],
      [3, ""],
    ])
  })
})

test("bash: a note of ours and an exit code are plain", async () => {
  await inProject(async () => {
    assert.equal(shown(await run("printf '\\e[31mfailed'; exit 2")), "<31>failed<>\n[exit code 2]")
  })
})

test("bash: a long output keeps the colours of its two ends, at their places", async () => {
  await inProject(async () => {
    const result = await run(
      "for i in $(seq 1 6000); do printf '\\e[32mline é %s\\e[0m end of a longer line\\n' $i; done; printf '\\e[31mlast\\n'",
    )
    const pieces = shown(result).split(/\n?\[… .* left out.* …\]\n/)
    assert.equal(pieces.length, 2)
    const isLine = /^<32>line é \d+<> end of a longer line$/
    for (const piece of pieces.flatMap((one) => one.split("\n").slice(1, -3))) assert.match(piece, isLine)
    assert.match(pieces[1]!, /<32>line é 6000<> end of a longer line\n<31>last\n<>$/)
    assert.ok(result.colors!.length <= 4_500)
  })
})

test("bash: a style that is on where a long output is cut is on behind the cut, and the note is plain", async () => {
  await inProject(async () => {
    const result = await run("printf '\\e[35m'; yes 0123456789 | head -n 10000; printf '\\e[0mend\\n'")
    assert.match(shown(result), /^<35>0123456789\n[^<]*<>\n\[… [^<]*…\]\n<35>[^<]*<>end\n$/)
  })
})

test("bash: of thousands of colours those of the beginning and of the end are kept", async () => {
  await inProject(async () => {
    const result = await run("for i in $(seq 1 9000); do printf '\\e[3%smx' $((i % 7 + 1)); done")
    assert.equal(result.text, "x".repeat(9_000))
    assert.ok(result.colors!.length <= 4_501, `${result.colors!.length}`)
    assert.match(shown(result), /^(<3\d>x){1500}<>x{1000,}(<3\d>x){1500,3000}<>$/)
  })
})

test("bash: a job that is read in parts has the colours of each part", async () => {
  await inProject(async () => {
    const options = { slots: free, context: { sessionId: "sess_colors" } } as const
    const command =
      "printf '\\e[31mone\\n'; until [ -e go ]; do sleep 0.02; done; printf 'two\\e[0m three\\n'; exit"
    const first = await call("bash", { command, background: true }, options)
    assert.match(shown(first), /^<31>one\n<>\[job_1: running/)
    await call("bash", { command: "touch go" }, options)
    const second = await call("bash", { job: "job_1", timeout: 20 }, options)
    assert.match(shown(second), /^<31>two<> three\n\[job_1: exit code 0\]$/)
  })
})
