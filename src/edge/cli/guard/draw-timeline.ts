// A timeline of a session as SVG: its events from left to right, and a row for each guard with what it blocked.
import { type GuardedEvent, guardTimeline } from "#client/guard-timeline.ts"
import { shorten } from "#util/plain-text.ts"

const [step, row, left, top] = [18, 24, 190, 40]
const maxName = 26

export function drawTimeline(title: string, all: readonly GuardedEvent[]): string {
  const timeline = guardTimeline(all)
  const [width, bottom] = [left + timeline.dots.length * step + 20, top + (timeline.rows.length + 1) * row]
  const x = (i: number) => left + i * step
  const label = (y: number, text: string) =>
    `<text x="${left - 14}" y="${y + 4}" text-anchor="end">${escapeXml(shorten(text, maxName))}</text>`
  const rule = (y: number) => `<line x1="${left - 8}" y1="${y}" x2="${width - 10}" y2="${y}" class="rule"/>`
  const dots = timeline.dots.map(
    ({ kind, said, event }, i) =>
      `<circle cx="${x(i)}" cy="${top}" r="${event.isAction ? 5 : 3}" class="${kind}"><title>${escapeXml(said)}</title></circle>`,
  )
  const rows = timeline.rows.flatMap(({ guard, marks }, i) => {
    const y = top + (i + 1) * row
    const crosses = marks.map(({ at, reason }) => {
      const about = escapeXml(`${timeline.dots[at]!.said}: ${reason}`)
      return `<path d="M${x(at) - 4} ${y - 4}l8 8m0 -8l-8 8" class="cross"><title>${about}</title></path>`
    })
    return [label(y, guard), rule(y), ...crosses]
  })
  const names = timeline.dots.flatMap(({ event: { event, isAction } }, i) =>
    isAction
      ? [
          `<text transform="translate(${x(i) - 4} ${bottom}) rotate(60)">${escapeXml(shorten(event, maxName))}</text>`,
        ]
      : [],
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 120}" height="${bottom + 190}" font-family="sans-serif" font-size="11">
<style>.rule{stroke:#ccc}.action{fill:#2563eb}.fact{fill:#9ca3af}.blocked,.cross{fill:#dc2626}.cross{stroke:#dc2626;stroke-width:2}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="18" font-size="13">${escapeXml(title)}</text>
${[label(top, "events"), rule(top), ...dots, ...rows, ...names].join("\n")}
</svg>
`
}

function escapeXml(text: string): string {
  // XML has no place for control characters, half pairs and these two.
  const plain = text.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ")
  return plain.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
