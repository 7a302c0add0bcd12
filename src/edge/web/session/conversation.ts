// The conversation. Messages are grouped into blocks; a block that is far from the visible part is an empty box of the same
// height, so that a session of ten thousand messages scrolls as one of fifty. Earlier messages are read when they come near.
import { useComputed, useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { Message } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { LiveAnswer, MessageView, textOf } from "./message-view.ts"

const blockSize = 25
/** Blocks within this distance of the visible part are drawn. */
const near = "1500px"
/** Of a block that was never drawn. */
const guessedHeight = 2_000
/** A person who is so near to the end wants to follow it. */
const endZone = 80
/** Blocks at either end that are drawn before anybody knows how far they are. */
const drawnAtFirst = 4

export function Conversation({ open }: { open: OpenSession }) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isFollowing = useSignal(true)
  const streamingId = useComputed(() => open.answer.value?.id)
  const blocks = blocksOf(open.messages.value, open.firstNumber.value)
  const lastTop = useRef(0)
  const toEnd = () => {
    scroller.current!.scrollTop = scroller.current!.scrollHeight
    lastTop.current = scroller.current!.scrollTop
  }
  useFollow({ scroller, content, isFollowing, toEnd })
  useAnchor(scroller, open.firstNumber.value)
  const toBeginning = async () => {
    isFollowing.value = false
    await open.loadAll()
    requestAnimationFrame(() => scroller.current?.scrollTo({ top: 0 }))
  }
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current!
    // The event comes later than the scrolling. If the content has grown meanwhile, nobody has scrolled away from the end.
    const isAway = scrollTop < lastTop.current || !isFollowing.value
    isFollowing.value = scrollHeight - scrollTop - clientHeight < endZone || !isAway
    lastTop.current = scrollTop
  }
  return html`<div class="conversation-box">
    <div class="conversation" ref=${scroller} onScroll=${onScroll} tabindex="0" aria-label="Conversation" role="region">
      <div class="content" ref=${content}>
        ${open.hasEarlier.value ? html`<${Earlier} open=${open} toBeginning=${toBeginning} />` : null}
        ${open.isRead.value && !open.messages.value.length && !streamingId.value ? html`<p class="empty dim">Nothing here yet. Write the first prompt below.</p>` : null}
        ${blocks.map(
          ({ number, messages }, i) =>
            html`<${Block}
              key=${number}
              messages=${messages}
              hidden=${streamingId.value}
              isDrawn=${i < drawnAtFirst || i >= blocks.length - 2 * drawnAtFirst}
              open=${open}
            />`,
        )}
        <${LiveAnswer} open=${open} />
        <${Failed} open=${open} />
      </div>
    </div>
    ${isFollowing.value ? null : html`<button type="button" class="to-end" onClick=${toEnd}>↓ To the end</button>`}
  </div>`
}

type Follow = {
  scroller: { current: HTMLDivElement | null }
  content: { current: HTMLDivElement | null }
  isFollowing: { value: boolean }
  toEnd(): void
}

/** Stays at the end while the content grows or the box shrinks. */
function useFollow({ scroller, content, isFollowing, toEnd }: Follow): void {
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => isFollowing.value && toEnd())
    observer.observe(content.current!)
    observer.observe(scroller.current!)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (isFollowing.value) toEnd()
  })
}

/** Browsers keep the place when something is inserted above it, but not at the very top: there, more and more would be
 * read until the first message. */
function useAnchor(scroller: { current: HTMLDivElement | null }, firstNumber: number): void {
  const before = useRef({ number: firstNumber, height: 0 })
  useLayoutEffect(() => {
    const box = scroller.current!
    const { number, height } = before.current
    const isAbove = firstNumber < number
    if (isAbove && (box.scrollTop < 1 || !CSS.supports("overflow-anchor", "auto")))
      box.scrollTop += box.scrollHeight - height
    before.current = { number: firstNumber, height: box.scrollHeight }
  })
}

type BlockOf = { number: number; messages: Message[] }

/** The number of a message decides its block: blocks stay as they are when earlier messages are read. */
function blocksOf(messages: readonly Message[], firstNumber: number): BlockOf[] {
  const blocks: BlockOf[] = []
  for (const [i, message] of messages.entries()) {
    const number = Math.floor((firstNumber + i) / blockSize)
    if (blocks.at(-1)?.number !== number) blocks.push({ number, messages: [] })
    blocks.at(-1)!.messages.push(message)
  }
  return blocks
}

type BlockProps = { messages: Message[]; hidden: string | undefined; isDrawn: boolean; open: OpenSession }

function Block({ messages, hidden, isDrawn, open }: BlockProps) {
  const box = useRef<HTMLDivElement>(null)
  const isNear = useSignal(isDrawn)
  const height = useRef(guessedHeight)
  useEffect(() => {
    const element = box.current!
    const observer = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1)!
        if (!entry.isIntersecting && isNear.value) height.current = element.offsetHeight || height.current
        isNear.value = entry.isIntersecting
      },
      { root: element.closest(".conversation"), rootMargin: near },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  if (!isNear.value)
    return html`<div class="block" ref=${box} style=${{ height: `${height.current}px` }}></div>`
  return html`<div class="block" ref=${box} style=${{ height: "" }}>
    ${messages
      .filter(({ id }) => id !== hidden)
      .map((message) => [
        html`<${MessageView} key=${message.id} message=${message} open=${open} />`,
        ...notesAfter(message.id, open),
      ])}
  </div>`
}

function notesAfter(id: string, open: OpenSession) {
  const { status, error } = open.session()
  // The error of a session that has failed is below the messages.
  const isShown = (text: string) => status === "error" && text === error?.message
  return open.notes.value
    .filter(({ after, text }) => after === id && !isShown(text))
    .map((note) => html`<p class="notes" key=${`note-${note.id}`}>${note.text}</p>`)
}

/** Why the last prompt failed. The message says what would help; the prompt can then be sent again. */
function Failed({ open }: { open: OpenSession }) {
  /** The state of the session that was sent again: its error is no longer true, and the button is not pressed twice. */
  const sentAt = useSignal(0)
  const { status, error, time } = open.session()
  const last = open.messages.value.findLast((one) => one.type === "text" && one.data.role === "user")
  if (status !== "error" || !open.isRead.value || sentAt.value === time.updated) return null
  const text = last?.type === "text" && !last.data.origin ? textOf(last.data.parts) : ""
  const sendAgain = async () => {
    sentAt.value = time.updated
    await open.send({ text }).catch((error) => {
      sentAt.value = 0
      throw error
    })
  }
  return html`<section class="failed" aria-label="Error">
    <h2>The last prompt failed</h2>
    <p>${error?.message ?? "The reason was not recorded."}</p>
    ${text && mayChange(open.session()) ? html`<button type="button" onClick=${() => attempt(sendAgain)}>Send it again</button>` : null}
  </section>`
}

function Earlier({ open, toBeginning }: { open: OpenSession; toBeginning(): void }) {
  const mark = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = mark.current!
    const observer = new IntersectionObserver(
      (entries) => entries.at(-1)!.isIntersecting && void open.loadEarlier(),
      { root: element.closest(".conversation"), rootMargin: near },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [open.messages.value[0]?.id])
  return html`<div class="earlier dim" ref=${mark}>
    Earlier messages… <button type="button" class="small" onClick=${toBeginning}>Go to the beginning</button>
  </div>`
}
