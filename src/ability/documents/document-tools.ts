// The tools of the librarian.
import type { Definition } from "#ability/call/types.ts"
import { graphSearch, graphShow, knowledgeManuals, saveKnowledge } from "./knowledge-tools.ts"
import { ragAdd, ragList, ragManuals, ragRemove, ragSearch } from "./rag-tools.ts"

export const documentTools: readonly Definition[] = [
  ragAdd,
  ragSearch,
  ragList,
  ragRemove,
  saveKnowledge,
  graphSearch,
  graphShow,
]

/** For docs/tools.md; models are not sent it. */
export const documentManuals = { ...ragManuals, ...knowledgeManuals }
