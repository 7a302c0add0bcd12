// Made from the .md files of this folder by script/descriptions.ts --write.
export const descriptions = {
  bash: "Run a command in bash. No terminal, stdin is empty. The working directory is kept between calls. `background` starts a job and returns its id; `job` reads its new output (`timeout`: wait so long for its end), with `stop` ends it. Processes left by a foreground command are ended.",
  delegate:
    "Give a task to a specialist, which works on its own and sees nothing of this conversation: say everything that it needs to know. Several calls in one answer run at the same time. `resume`: carry out the unfinished steps of the plan, instead of a new task.",
  edit: "Replace text in a file. Each `oldText` must be exactly as in the file (without line numbers) and occur once, unless `replaceAll`. Several edits are made in order, all or none.",
  fetch:
    "Get a web page (http, https) as Markdown: its main content with links. JSON and text come as they are, other files are described.",
  glob: 'Find files by pattern: `src/**/*.ts`, `*.{js,ts}` (a pattern without "/" matches in every folder). Ignored files are left out.',
  grep: "Search file contents with a regular expression (ripgrep), or literal text with `fixed`. `glob` limits the files, `context` adds lines around each match.",
  ls: "List a folder: folders first, then files with sizes. Ignored entries are left out.",
  read: "Read a text file, lines numbered. Without a range: the first 2000 lines. Images and other binaries are described.",
  recall:
    "Search what is stored of earlier sessions in this project: what was said, done and decided. `text` is looked for literally, in any case; `where` limits by fields (`type=text`, `data.role=user`); `under` by kind (`message`, `session`, `relation`). The newest come first.",
  subtask:
    "Give a task to another agent, which works on its own with a fresh memory and answers with its result. Say everything it needs to know. Good for searching widely and for parts that can be done apart.",
  symbols:
    "Find where functions, types and constants are defined, by a part of their name. Without `name`: what `path` defines. Quick and by the look of lines: unusual definitions are missed.",
  todo: "Task list or plan of this session, shown to the person. Without `todos`: show it. Items are merged by `id` or text; `replace` makes the list exactly these. `after`: ids of what comes first.",
  tool_search:
    "Find tools beyond those that you have: `query` says what must be done, and what fits is among your tools from the next turn on. Where the answer shows a tool with its parameters, call it as `call` with `arguments`.",
  write:
    "Create a file, or replace all of it. Missing folders are made. To change parts of a file, use edit.",
} as const
