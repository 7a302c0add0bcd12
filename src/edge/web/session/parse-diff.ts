// A unified diff as rows: lines with their numbers, removed lines beside those that took their place, changed words marked.
import { diffWords, type Piece } from "#client/diff-words.ts"

export type Side = { number?: number | undefined; pieces: Piece[] }
export type Row =
  | { kind: "head"; text: string }
  | { kind: "same" | "change"; before?: Side | undefined; after?: Side | undefined }

/** Words are compared in so many pairs of lines. */
const maxCompared = 2_000

/** Anything is taken: what does not look like a diff is shown as its lines. */
export function parseDiff(text: string): Row[] {
  const rows: Row[] = []
  let [before, after]: [number | undefined, number | undefined] = [undefined, undefined]
  let removed: Side[] = []
  let added: Side[] = []
  let compared = 0

  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      const [old, now] = [removed[i], added[i]]
      const words = old && now && compared++ < maxCompared ? diffWords(lineOf(old), lineOf(now)) : undefined
      rows.push({
        kind: "change",
        before: words ? { ...old!, pieces: words.before } : old,
        after: words ? { ...now!, pieces: words.after } : now,
      })
    }
    removed = []
    added = []
  }

  for (const line of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    const isHead =
      hunk || /^(?:diff |index |--- |\+\+\+ |\\|new file|deleted file|rename |similarity )/.test(line)
    if (isHead) {
      flush()
      if (hunk) [before, after] = [Number(hunk[1]), Number(hunk[2])]
      rows.push({ kind: "head", text: line })
    } else if (line.startsWith("-")) {
      if (added.length) flush()
      removed.push({ number: before, pieces: whole(line) })
      before = before === undefined ? undefined : before + 1
    } else if (line.startsWith("+")) {
      added.push({ number: after, pieces: whole(line) })
      after = after === undefined ? undefined : after + 1
    } else {
      flush()
      rows.push({
        kind: "same",
        before: { number: before, pieces: whole(line) },
        after: { number: after, pieces: whole(line) },
      })
      before = before === undefined ? undefined : before + 1
      after = after === undefined ? undefined : after + 1
    }
  }
  flush()
  return rows
}

function whole(line: string): Piece[] {
  return [{ text: line.slice(1), isChanged: false }]
}

function lineOf({ pieces }: Side): string {
  return pieces.map(({ text }) => text).join("")
}
