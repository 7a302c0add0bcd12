// Made from the .md files of this folder by script/descriptions.ts --write.
export const descriptions = {
  glob: 'Find files by pattern: `src/**/*.ts`, `*.{js,ts}` (a pattern without "/" matches in every folder). Ignored files are left out.',
  grep: "Search file contents with a regular expression (ripgrep), or literal text with `fixed`. `glob` limits the files, `context` adds lines around each match.",
  ls: "List a folder: folders first, then files with sizes. Ignored entries are left out.",
  read: "Read a text file, lines numbered. Without a range: the first 2000 lines. Images and other binaries are described.",
} as const
