// What a decision costs: of rules alone, and of rules about shell lines of ordinary and of hostile size.
import * as Permission from "#ability/permission/permission.ts"
import { median, quantile } from "./measure.ts"

const rounds = 400
const warmUp = 100
const rule = (permission: string, pattern: string, action: Permission.Action) => ({
  permission,
  pattern,
  action,
})
const rules = [
  ..."ls cat grep rg find sed awk head tail wc sort uniq echo jq npm node git"
    .split(" ")
    .map((name) => rule("bash.execute", `${name} *`, "allow")),
  rule("bash.execute", "rm *", "deny"),
  rule("bash.execute", "git push*", "ask"),
  rule("file.read", "**", "allow"),
  rule("file.write", "src/**", "allow"),
  rule("file.write", "**/.env*", "deny"),
  rule("network.fetch", "https://example.com/*", "allow"),
]
const ordinary = [
  'for f in src/a.ts src/b.ts; do grep -n "x $f" "$f" | sort -rn | head -5; done',
  "git log --oneline -5 && npm test 2>&1 | tail -20",
  "sed -n '1,20p;s/[a-z]*/b/' f | awk -F: '$1 > 2 {print $2 / 3}'",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
  'echo "$(cat a | wc -l) ${x:-$(ls src)}" $((1 + 2))',
  "cat <<'E'\nsome text $(not run)\nE",
]
const needs: Permission.Need[] = [
  { permission: "file.read", target: "src/a/b.ts" },
  { permission: "file.write", target: "src/.env" },
  { permission: "network.fetch", target: "https://example.com/a" },
  { permission: "mcp.call", target: "server.tool" },
]

measure(
  "no shell command",
  needs.map((need) => () => Permission.evaluate(need, { source: "user", rules })),
  {
    median: 0.2,
    p99: 0.2,
  },
)
for (const [size, p99] of [
  [200, 5],
  [4 * 1024, 5],
  [64 * 1024, 50],
] as const)
  measure(`shell lines of ${size} bytes`, ordinary.map((line) => repeated(line, size)).map(judge), { p99 })
measure("one word of 64 KB, options, quotes, holes", hostile(64 * 1024).map(judge), { p99: 50 })
measure("3000 levels", deep(3_000).map(judge), { p99: 50 })

function judge(command: string): () => unknown {
  return () => Permission.evaluateCommand(command, rules)
}

function repeated(line: string, size: number): string {
  const all: string[] = []
  for (let length = 0; length < size - line.length; length += line.length + 1) all.push(line)
  return [...all, line].join("\n")
}

function hostile(size: number): string[] {
  return [
    `ls ${"a".repeat(size)}`,
    `sudo ${"-a b ".repeat(size / 5)}`,
    `echo ${"'a'\"b\"$x".repeat(size / 8)}`,
    `sed '${"s/a/b/;".repeat(size / 7)}' f`,
    `awk '{${"x /= 2;".repeat(size / 7)}}' f`,
    `awk '{print "${"a ".repeat(size / 2)}"}' f`,
    `${"x=$x; ".repeat(size / 6)} ls $((x))`,
    `find ${"$a ".repeat(size / 3)}`,
    `bash -c '${"ls; ".repeat(size / 4)}'`,
    `echo ${"{a,b}".repeat(size / 5)}`,
  ]
}

function deep(levels: number): string[] {
  return ["$(", "(", "{ ", '"$(', "`"].map((open) => `ls ${open.repeat(levels)}`)
}

/** In milliseconds, each of them often and warm. */
function measure(what: string, work: (() => unknown)[], goal: { median?: number; p99: number }): void {
  const limit = performance.now() + 20_000
  for (let i = 0; i < warmUp && performance.now() < limit - 15_000; i++) for (const one of work) one()
  const times: number[] = []
  for (let i = 0; i < rounds && performance.now() < limit; i++)
    for (const one of work) {
      const start = performance.now()
      one()
      times.push(performance.now() - start)
    }
  const [middle, late] = [median(times), quantile(times, 0.99)]
  const isMet = late <= goal.p99 && middle <= (goal.median ?? goal.p99)
  console.log(
    `${what.padEnd(52)} median ${middle.toFixed(3)} ms  p99 ${late.toFixed(3)} ms  goal ${goal.p99} ms ${isMet ? "met" : "MISSED"}`,
  )
  if (!isMet) process.exitCode = 1
}
