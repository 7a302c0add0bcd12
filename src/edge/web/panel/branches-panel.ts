// The branches of a session as a tree to walk, with the messages of the chosen one, from which a person branches or forks.
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { Branch } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { BranchMessages } from "./branch-messages.ts"
import { type BranchRow, branchRows } from "./branch-tree.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

/** Rows that are drawn at once. */
const pageSize = 200
/** Deeper branches are not moved further to the right. */
const maxIndent = 12

export function BranchesPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.listBranches({ id: open.id }), [
    "message.created",
    "session.updated",
  ])
  return html`<${Shown} live=${live} empty="This session has no branches." isEmpty=${(all: Branch[]) => !all.length}>
    ${(all: Branch[]) => html`<${BranchesView} all=${all} open=${open} />`}
  <//>`
}

function BranchesView({ all, open }: { all: Branch[]; open: OpenSession }) {
  const search = useSignal("")
  const closed = useSignal<ReadonlySet<string>>(new Set())
  const picked = useSignal<string | undefined>(undefined)
  const limit = useSignal(pageSize)
  const chosen = all.find(({ name }) => name === picked.value) ?? all.find(({ active }) => active) ?? all[0]!
  const words = search.value.trim().toLowerCase()
  const rows = words
    ? all
        .filter(({ name }) => name.toLowerCase().includes(words))
        .map((branch) => ({ branch, level: 1, children: 0 }))
    : branchRows(all, closed.value)
  const toggle = (name: string, isClosed: boolean) => {
    const next = new Set(closed.value)
    if (isClosed) next.add(name)
    else next.delete(name)
    closed.value = next
  }
  return html`
    ${
      all.length > 12
        ? html`<input
            type="search"
            aria-label="Search branches"
            placeholder=${`Search ${all.length} branches`}
            value=${search.value}
            onInput=${(event: InputEvent) => {
              search.value = (event.target as HTMLInputElement).value
            }}
          />`
        : null
    }
    <${Tree}
      rows=${rows.slice(0, limit.value)}
      chosen=${chosen.name}
      closed=${closed.value}
      onToggle=${toggle}
      onChoose=${(name: string) => {
        picked.value = name
      }}
    />
    ${
      rows.length > limit.value
        ? html`<button
            type="button"
            onClick=${() => {
              limit.value += pageSize
            }}
          >
            Show more of ${rows.length} branches
          </button>`
        : null
    }
    <section class="chosen" aria-label=${`Branch ${chosen.name}`}>
      <h2>
        ${chosen.name} <span class="dim">${chosen.count} messages${chosen.from ? `, made from ${chosen.from.branch}` : ""}</span>
      </h2>
      ${
        chosen.active
          ? html`<p class="dim">Prompts continue here.</p>`
          : mayChange(open.session()) &&
            html`<p>
              <button
                type="button"
                class="primary"
                disabled=${open.session().status === "busy"}
                onClick=${() => attempt(() => open.client.switchBranch({ id: open.id, name: chosen.name }))}
              >
                Switch to this branch
              </button>
            </p>`
      }
      <${BranchMessages} key=${chosen.name} branch=${chosen} names=${all.map(({ name }) => name)} open=${open} />
    </section>
  `
}

type TreeProps = {
  rows: BranchRow[]
  chosen: string
  closed: ReadonlySet<string>
  onToggle(name: string, isClosed: boolean): void
  onChoose(name: string): void
}

/** Up and down move, left and right close and open, Enter chooses. */
function Tree({ rows, chosen, closed, onToggle, onChoose }: TreeProps) {
  const list = useRef<HTMLUListElement>(null)
  const focusable = rows.some(({ branch }) => branch.name === chosen) ? chosen : rows[0]?.branch.name
  const move = (event: KeyboardEvent, at: number) => {
    const { branch, children } = rows[at]!
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (event.key === "Enter" || event.key === " ") onChoose(branch.name)
    else if (event.key === "ArrowLeft" && children) onToggle(branch.name, true)
    else if (event.key === "ArrowRight" && children) onToggle(branch.name, false)
    else if (to === undefined) return
    event.preventDefault()
    if (to !== undefined) (list.current?.children[to] as HTMLElement | undefined)?.focus()
  }
  return html`<ul class="tree" role="tree" aria-label="Branches" ref=${list}>
    ${rows.map(
      ({ branch, level, children }, at) => html`<li
        key=${branch.name}
        role="treeitem"
        aria-level=${level}
        aria-selected=${branch.name === chosen ? "true" : "false"}
        aria-expanded=${children ? String(!closed.has(branch.name)) : undefined}
        tabindex=${branch.name === focusable ? 0 : -1}
        style=${{ paddingInlineStart: `${Math.min(level, maxIndent) * 14}px` }}
        onClick=${() => onChoose(branch.name)}
        onKeyDown=${(event: KeyboardEvent) => move(event, at)}
      >
        <span
          class="fold"
          aria-hidden="true"
          onClick=${(event: Event) => {
            if (!children) return
            event.stopPropagation()
            onToggle(branch.name, !closed.has(branch.name))
          }}
          >${children ? (closed.has(branch.name) ? "▸" : "▾") : "·"}</span
        >
        <span class="name">${branch.name}</span>
        ${branch.active ? html`<strong class="active">active</strong>` : null}
        <span class="dim">${branch.count}</span>
      </li>`,
    )}
  </ul>`
}
