// The report of `vitamin world run --report`: one page with the pictures in it, which needs no other file.
import type { UnitReport } from "#ability/tiers/run-tiers.ts"
import { sayUnit } from "#ability/tiers/say-unit.ts"
import { sayTotal } from "#ability/world/say-story.ts"
import type { Outcome } from "#ability/world/story-result.ts"
import * as Secret from "#kernel/secret/secret.ts"

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1b1b;background:#fff}
article{border:1px solid #c8c8c8;border-left:6px solid #2a7d3f;border-radius:6px;padding:0 1rem 1rem;margin:1rem 0}
article.failed{border-left-color:#b3261e}h2{font-size:1.05rem}img{max-width:100%;border:1px solid #c8c8c8}
pre{overflow-x:auto;background:#f4f4f4;padding:.5rem}.status{font-weight:700}small{color:#5a5a5a}`

export function htmlReport(outcomes: readonly Outcome[], units: readonly UnitReport[]): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Stories</title><style>${style}</style></head><body>
<h1>Stories</h1><p>${escaped(sayTotal(outcomes))}</p>
${list("Analysis and judge", units.flatMap(sayUnit))}
${outcomes.map(section).join("\n")}
</body></html>
`
}

/** A picture that would show a secret is left out. */
function section(outcome: Outcome): string {
  const { file, name, intent, status, problems, assertions, violations, snapshot, picture, duration } =
    outcome
  const { passed, failed } = assertions
  const title = [file, name].filter(Boolean).join(" › ")
  return `<article class="${status}"><h2>${escaped(title)}</h2>
<p><span class="status">${status}</span> ${escaped(intent)} <small>${duration} ms, ${passed} of ${passed + failed} assertions</small></p>
${list("Problems", problems)}${list(
  "Accessibility",
  (violations ?? []).map(
    ({ id, impact, help, targets }) => `${impact} ${id}: ${help}; at ${targets.join(", ")}`,
  ),
)}
${picture && !Secret.reveals(snapshot ?? "") ? `<img alt="Picture of the story" src="data:image/png;base64,${picture.toString("base64")}">` : ""}
${snapshot ? `<details><summary>Accessibility tree</summary><pre>${escaped(snapshot)}</pre></details>` : ""}</article>`
}

function list(title: string, lines: readonly string[]): string {
  if (!lines.length) return ""
  return `<h3>${title}</h3><ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join("")}</ul>`
}

function escaped(text: string): string {
  return Secret.redact(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
