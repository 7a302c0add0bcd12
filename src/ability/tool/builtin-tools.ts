// The tools that are always there.

import type { Definition } from "#ability/call/types.ts"
import { bash } from "#ability/tool/builtin/bash.ts"
import { delegate } from "#ability/tool/builtin/delegate.ts"
import { edit } from "#ability/tool/builtin/edit.ts"
import { fetch } from "#ability/tool/builtin/fetch.ts"
import { glob } from "#ability/tool/builtin/glob.ts"
import { grep } from "#ability/tool/builtin/grep.ts"
import { ls } from "#ability/tool/builtin/ls.ts"
import { read } from "#ability/tool/builtin/read.ts"
import { recall } from "#ability/tool/builtin/recall.ts"
import { subtask } from "#ability/tool/builtin/subtask.ts"
import { symbols } from "#ability/tool/builtin/symbols.ts"
import { todo } from "#ability/tool/builtin/todo.ts"
import { toolSearch } from "#ability/tool/builtin/tool-search.ts"
import { write } from "#ability/tool/builtin/write.ts"

/** The built-in tools, even if others replace them. */
export const builtin = {
  bash,
  delegate,
  edit,
  fetch,
  glob,
  grep,
  ls,
  read,
  recall,
  subtask,
  symbols,
  todo,
  toolSearch,
  write,
} satisfies Record<string, Definition>
