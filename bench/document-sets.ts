// The documents of bench/documents.ts: sections with questions, written by hand (data/documents), among the project's own
// documents; and documents that are put together at random from paragraphs of these.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** `easy`: with words of the passage at hand. `hard`: in other words. `unseen`: in other words, about documents that nothing was
 * tuned on. */
export type Kind = "easy" | "hard" | "unseen"
type Question = { question: string; kind: Kind; file: string; heading: string }

const data = join(import.meta.dirname, "data/documents")
const docs = join(import.meta.dirname, "../docs")
const paragraphsEach = 12

/** Writes the sections, and the documents of the project itself. */
export function writeQuestioned(folder: string): Question[] {
  const { documents, questions } = readSections(readFileSync(join(data, "sections.md"), "utf8"))
  const unseen = readSections(readFileSync(join(data, "unseen.md"), "utf8"))
  for (const [file, text] of unseen.documents) documents.set(file, text)
  questions.push(...unseen.questions.map((one): Question => ({ ...one, kind: "unseen" })))
  for (const file of globSync("**/*.md", { cwd: docs }))
    documents.set(`project/${file}`, readFileSync(join(docs, file), "utf8"))
  write(folder, documents)
  return questions
}

/** Writes documents of random paragraphs, a quarter of them as HTML. */
export function writeRandom(folder: string, count: number): string[] {
  const documents = new Map<string, string>()
  const paragraphs = globSync("**/*.md", { cwd: docs })
    .sort()
    .flatMap((file) => readFileSync(join(docs, file), "utf8").split(/\n{2,}/))
    .filter((text) => text.length > 80 && text.length < 1_500 && !/^[|#`<]/.test(text))
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let at = 0; documents.size < count; at++) {
    const parts = Array.from({ length: paragraphsEach }, () => paragraphs[random(paragraphs.length)]!)
    const isHtml = at % 4 === 3
    documents.set(`${at % 20}/${at}.${isHtml ? "html" : "md"}`, (isHtml ? asHtml : asMarkdown)(at, parts))
  }
  write(folder, documents)
  return [...documents.keys()]
}

function write(folder: string, documents: ReadonlyMap<string, string>): void {
  for (const [file, text] of documents) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

/** A document begins with `# title`, a section with `## heading`; a line `? …` is a question that the section answers, a line
 * `! …` the same in other words. */
function readSections(text: string): { documents: Map<string, string>; questions: Question[] } {
  const documents = new Map<string, string>()
  const questions: Question[] = []
  for (const part of text.split(/^(?=# )/m).filter((one) => one.startsWith("# "))) {
    const title = /^# (.*)/.exec(part)![1]!
    const file = `${title.toLowerCase().replace(/[^a-z]+/g, "-")}.md`
    let heading = title
    const kept = part.split("\n").filter((line) => {
      heading = /^## (.*)/.exec(line)?.[1] ?? heading
      const [, mark, question] = /^([?!]) (.*)/.exec(line) ?? []
      if (question) questions.push({ question, kind: mark === "!" ? "hard" : "easy", file, heading })
      return !question
    })
    documents.set(file, kept.join("\n"))
  }
  return { documents, questions }
}

function asMarkdown(at: number, parts: string[]): string {
  return `# Document ${at}\n\n${parts.map((part, i) => (i % 4 ? part : `## Part ${i}\n\n${part}`)).join("\n\n")}\n`
}

function asHtml(at: number, parts: string[]): string {
  const body = parts.map(
    (part, i) => `${i % 4 ? "" : `<h2>Part ${i}</h2>\n`}<p>${part.replaceAll("<", "&lt;")}</p>`,
  )
  return `<!doctype html>\n<html><head><title>Document ${at}</title></head>\n<body>\n${body.join("\n")}\n</body></html>\n`
}
