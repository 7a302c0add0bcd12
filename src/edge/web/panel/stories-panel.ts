// The stories that a session ran, each with its last picture and what was wrong.
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { Client } from "#client/client.ts"
import { ago, counted, duration } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

type Story = Awaited<ReturnType<Client["listStories"]>>[number]

const maxProblems = 20

export function StoriesPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.listStories({ id: open.id }), ["story.finished"])
  return html`<${Shown}
    live=${live}
    empty="No story ran in this session. An agent runs stories (*.stories.ts) with the tool world_run."
    isEmpty=${(stories: Story[]) => !stories.length}
  >
    ${(stories: Story[]) => {
      const last = lastOfEach(stories)
      const failed = last.filter(({ status }) => status === "failed").length
      return html`
        <p>
          <strong>${last.length - failed} of ${last.length} pass</strong>
          <span class="dim"> · ${counted(stories.length, "run")}</span>
        </p>
        <ul class="stories">
          ${last.map((story) => html`<${StoryView} key=${`${story.file} ${story.name}`} story=${story} open=${open} />`)}
        </ul>
      `
    }}
  <//>`
}

/** Failed ones first, then the last run first. */
function lastOfEach(stories: readonly Story[]): Story[] {
  const last = new Map(stories.map((story) => [`${story.file} ${story.name}`, story]))
  const rank = ({ status }: Story) => (status === "failed" ? 0 : 1)
  return [...last.values()].sort((a, b) => rank(a) - rank(b) || b.time - a.time)
}

function StoryView({ story, open }: { story: Story; open: OpenSession }) {
  const { file, name, intent, status, problems, assertions, violations, snapshot, time } = story
  return html`<li class="story" data-status=${status}>
    <h2><span class="mark">${status === "passed" ? "✓ passed" : "✗ failed"}</span> ${name || file}</h2>
    <p class="dim">${file} · ${duration(story.duration)} · ${ago(time)}</p>
    ${intent ? html`<p>${intent}</p>` : null}
    ${story.hasPicture ? html`<${Picture} story=${story} open=${open} />` : null}
    <p class="dim">
      ${assertions.passed} assertions held${assertions.failed ? `, ${assertions.failed} did not` : ""}${
        violations ? ` · ${violations.length} accessibility findings` : ""
      }
    </p>
    ${problems.length ? html`<ul class="problems-list">${problems.slice(0, maxProblems).map((text) => html`<li>${text}</li>`)}</ul>` : null}
    ${
      violations?.length
        ? html`<ul class="problems-list">
            ${violations.slice(0, maxProblems).map(({ id, impact, help, targets }) => html`<li><code>${id}</code> (${impact}): ${help} <code>${targets.join(", ")}</code></li>`)}
          </ul>`
        : null
    }
    ${snapshot ? html`<details><summary>Accessibility tree</summary><pre class="output" tabindex="0">${snapshot}</pre></details>` : null}
  </li>`
}

/** Read when it comes into view. */
function Picture({ story, open }: { story: Story; open: OpenSession }) {
  const box = useRef<HTMLDivElement>(null)
  const source = useSignal("")
  const problem = useSignal("")
  const { callId, number } = story
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return
      observer.disconnect()
      open.client.getStoryPicture({ id: open.id, callId, number: String(number) }).then(
        ({ data }) => {
          source.value = `data:image/png;base64,${data}`
        },
        (error: Error) => {
          problem.value = error.message
        },
      )
    })
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [callId, number])
  return html`<div class="shot" ref=${box}>
    ${
      problem.value
        ? html`<p class="dim">${problem.value}</p>`
        : source.value
          ? html`<img src=${source.value} alt=${`The page after the story ${story.name}`} />`
          : null
    }
  </div>`
}
