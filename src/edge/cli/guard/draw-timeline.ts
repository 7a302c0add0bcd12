// A timeline of a session as SVG: its events from left to right, and a row for each guard with what it blocked.
import type { Replayed } from "#engine/symbolic/replay-guards.ts"
import { shorten } from "#util/plain-text.ts"

const [step, row, left, top] = [18, 24, 190, 40]
const maxName = 26
/** Longer sessions show their last events. */
const maxEvents = 1_000

export function drawTimeline(title: string, all: readonly Replayed[]): string {
  const events = all.slice(-maxEvents)
  const guards = [...new Set(events.flatMap((event) => blockersOf(event).map(({ guard }) => guard)))]
  const [width, bottom] = [left + events.length * step + 20, top + (guards.length + 1) * row]
  const x = (i: number) => left + i * step
  const label = (y: number, text: string) =>
    `<text x="${left - 14}" y="${y + 4}" text-anchor="end">${escapeXml(shorten(text, maxName))}</text>`
  const rule = (y: number) => `<line x1="${left - 8}" y1="${y}" x2="${width - 10}" y2="${y}" class="rule"/>`
  const dots = events.map((event, i) => {
    const kind = blockersOf(event).length ? "blocked" : event.isAction ? "action" : "fact"
    return `<circle cx="${x(i)}" cy="${top}" r="${event.isAction ? 5 : 3}" class="${kind}"><title>${escapeXml(saidOf(event))}</title></circle>`
  })
  const rows = guards.flatMap((guard, i) => {
    const y = top + (i + 1) * row
    const marks = events.flatMap((event, at) => {
      const found = blockersOf(event).find((one) => one.guard === guard)
      const about = found && escapeXml(`${saidOf(event)}: ${found.reason}`)
      return found
        ? [`<path d="M${x(at) - 4} ${y - 4}l8 8m0 -8l-8 8" class="cross"><title>${about}</title></path>`]
        : []
    })
    return [label(y, guard), rule(y), ...marks]
  })
  const names = events.flatMap(({ event, isAction }, i) =>
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

function blockersOf({ blocked, simulated = blocked }: Replayed): Replayed["blocked"] {
  return simulated
}

function saidOf({ time, event }: Replayed): string {
  return `${event} (${new Date(time).toISOString()})`
}

function escapeXml(text: string): string {
  // XML has no place for control characters, half pairs and these two.
  const plain = text.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ")
  return plain.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
