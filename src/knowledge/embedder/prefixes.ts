// What embedding models want before a query and before a document, as their model cards say. Without it they work, but worse.

export type Prefixes = Readonly<{ query: string; document: string }>

const passages = "Represent this sentence for searching relevant passages: "
const known: [RegExp, Prefixes][] = [
  [/embedding-?gemma/i, { query: "task: search result | query: ", document: "title: none | text: " }],
  [/nomic-embed/i, { query: "search_query: ", document: "search_document: " }],
  [/qwen3?-embedding/i, { query: "Instruct: Retrieve what fits the request\nQuery: ", document: "" }],
  [/arctic-embed.*v2/i, { query: "query: ", document: "" }],
  [/arctic-embed|mxbai-embed|bge-(?:small|base|large)-en/i, { query: passages, document: "" }],
  [/(?:^|[^a-z])e5-(?!mistral)/i, { query: "query: ", document: "passage: " }],
]

/** By the name of the model or of its file. */
export function prefixesOf(name: string): Prefixes | undefined {
  return known.find(([form]) => form.test(name))?.[1]
}
