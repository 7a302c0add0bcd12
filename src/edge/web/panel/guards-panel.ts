// What guards blocked, as a timeline: events from left to right, a row for each guard. The list below has the same in words.
import { useEffect, useRef } from "preact/hooks"
import { type GuardedEvent, guardTimeline } from "#client/guard-timeline.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

type Found = { total: number; events: GuardedEvent[] }

const [step, row, top] = [16, 26, 18]
const maxName = 60
const maxListed = 200

export function GuardsPanel({ open }: { open: OpenSession }) {
  const live = useLive<Found>(open, () => open.client.listGuardEvents({ id: open.id }), [
    "guard.blocked",
    "message.created",
    "session.idle",
  ])
  return html`<${Shown}
    live=${live}
    empty="Nothing has happened here that a guard could block."
    isEmpty=${({ events }: Found) => !events.length}
  >
    ${({ events, total }: Found) => {
      const blocked = events.filter((event) => event.blocked.length)
      return html`
        <p>
          <strong>${blocked.length ? `${blocked.length} blocked` : "Nothing was blocked"}</strong>
          <span class="dim"> of ${total} events${total > events.length ? `; the last ${events.length} are shown` : ""}</span>
        </p>
        <${Timeline} events=${events} />
        <ol class="blocked-list" reversed>
          ${blocked
            .slice(-maxListed)
            .reverse()
            .map(
              (event, i) => html`<li key=${`${event.time} ${i}`}>
                <time class="dim" datetime=${new Date(event.time).toISOString()}>${new Date(event.time).toLocaleTimeString()}</time>${" "}
                <code>${event.event}</code>
                ${event.blocked.map(
                  ({ guard, reason }) => html`<p class="reason"><strong>${guard}</strong>: ${reason}</p>`,
                )}
              </li>`,
            )}
        </ol>
      `
    }}
  <//>`
}

function Timeline({ events }: { events: readonly GuardedEvent[] }) {
  const box = useRef<HTMLDivElement>(null)
  const { dots, rows } = guardTimeline(events)
  const [width, height] = [dots.length * step + 16, top + (rows.length + 1) * row - 8]
  const x = (at: number) => 12 + at * step
  // The newest event is at the right end.
  useEffect(() => {
    const element = box.current!
    element.scrollLeft = element.scrollWidth
  }, [dots.length])
  return html`<figure class="timeline">
    <ul class="timeline-names" aria-hidden="true">
      <li>events</li>
      ${rows.map(({ guard }) => html`<li key=${guard} title=${guard}>${guard.slice(0, maxName)}</li>`)}
    </ul>
    <div class="timeline-box" ref=${box} tabindex="0" role="group" aria-label="Timeline">
      <svg width=${width} height=${height} role="img" aria-label=${`${dots.length} events, ${rows.length} guards blocked some of them`}>
        ${[undefined, ...rows].map(
          (_, i) =>
            html`<line class="rule" x1="0" x2=${width} y1=${top + i * row} y2=${top + i * row}></line>`,
        )}
        ${dots.map(
          ({ kind, said, event }, at) =>
            html`<circle class=${kind} cx=${x(at)} cy=${top} r=${event.isAction ? 5 : 3}><title>${said}</title></circle>`,
        )}
        ${rows.map(({ guard, marks }, i) =>
          marks.map(
            ({ at, reason }) => html`<path
              key=${`${guard} ${at}`}
              class="cross"
              d=${`M${x(at) - 4} ${top + (i + 1) * row - 4}l8 8m0 -8l-8 8`}
            ><title>${`${dots[at]!.said}: ${reason}`}</title></path>`,
          ),
        )}
      </svg>
    </div>
  </figure>`
}
