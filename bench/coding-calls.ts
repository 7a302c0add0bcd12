// Two hundred calls of a typical coding session: a bug is found and fixed, a feature is added, tests are run, the result is
// committed. Written down before it was measured how many of them ask.
type Call = { tool: string; args: Record<string, unknown> }

const files =
  "src/server.ts src/port.ts src/router.ts src/util/log.ts test/server.test.ts package.json".split(" ")
const words = "PORT listen createServer handler TODO timeout retry export\\s+function".split(" ")

const read = (path: string, startLine?: number): Call => ({
  tool: "read",
  args: startLine ? { path, startLine, endLine: startLine + 79 } : { path },
})
const grep = (pattern: string, path?: string): Call => ({
  tool: "grep",
  args: { pattern, ...(path ? { path } : {}) },
})
const glob = (pattern: string): Call => ({ tool: "glob", args: { pattern } })
const ls = (path: string): Call => ({ tool: "ls", args: { path } })
const edit = (path: string, i: number): Call => ({
  tool: "edit",
  args: { path, edits: [{ oldText: `line ${i}`, newText: `better line ${i}` }] },
})
const write = (path: string): Call => ({ tool: "write", args: { path, content: "export {}\n" } })
const bash = (command: string): Call => ({ tool: "bash", args: { command } })
const fetch = (url: string): Call => ({ tool: "fetch", args: { url } })
const todo = (content: string): Call => ({
  tool: "todo",
  args: { todos: [{ id: "1", text: content, status: "pending" }] },
})

export const codingCalls: readonly Call[] = [
  // Looking around: 74.
  ...files.flatMap((path) => [read(path), read(path, 80), read(path, 160), read(path, 240), read(path, 320)]),
  ...words.map((word) => grep(word)),
  ...words.map((word) => grep(word, "src")),
  ...words.map((word) => grep(word, "test")),
  ...["src/**/*.ts", "test/**/*.test.ts", "**/*.json", "docs/**/*.md", "**/Dockerfile"].map(glob),
  ...[".", "src", "src/util", "test", "docs"].map(ls),
  ...["plan the fix", "run the tests", "write the notes", "commit"].map(todo),
  ...["README.md", "docs/api.md", "tsconfig.json", "src/index.ts", "src/types.ts", "src/errors.ts"].map(
    (path) => read(path),
  ),
  // Changing files: 44.
  ...files.slice(0, 5).flatMap((path) => [0, 1, 2, 3, 4, 5].map((i) => edit(path, i))),
  edit("package.json", 1),
  edit("README.md", 2),
  edit("docs/api.md", 3),
  edit("tsconfig.json", 4),
  ...["src/retry.ts", "src/util/wait.ts", "test/retry.test.ts", "test/port.test.ts", "docs/retry.md"].map(
    write,
  ),
  ...["src/cache.ts", "test/cache.test.ts", "CHANGELOG.md", "src/util/hash.ts", "scripts/seed.ts"].map(write),
  // Commands: 74.
  ...["npm test", "npm test", "npm test", "npm test -- --watch=false", "npm run build", "npm run build"].map(
    bash,
  ),
  ...["npx tsc --noEmit", "npx tsc --noEmit", "npx tsc -p .", "npx eslint src", "npx prettier --check ."].map(
    bash,
  ),
  ...[
    "node --test test/port.test.ts",
    "node --test test/retry.test.ts",
    "node --test",
    "node dist/index.js --help",
  ].map(bash),
  ...["node -e 'console.log(1 + 1)'", "node --version", "npm --version", "npm ls --depth=0"].map(bash),
  ...[
    "git status",
    "git status --short",
    "git diff",
    "git diff --stat",
    "git log --oneline -5",
    "git show HEAD",
  ].map(bash),
  ...[
    "git diff --cached",
    "git branch -a",
    "git blame src/port.ts",
    "git stash list",
    "git rev-parse HEAD",
  ].map(bash),
  ...[
    "git add -A",
    "git add src/port.ts",
    "git commit -m 'fix: port'",
    "git checkout -b fix-port",
    "git restore src/port.ts",
  ].map(bash),
  ...[
    "cat package.json",
    "cat src/port.ts | head -20",
    "wc -l src/*.ts",
    "ls -la",
    "find . -name '*.ts' | head",
  ].map(bash),
  ...[
    "head -50 README.md",
    "tail -20 npm-debug.log",
    "which node",
    "pwd",
    "echo $PATH",
    "date",
    "uname -a",
    "du -sh .",
  ].map(bash),
  ...[
    "grep -rn TODO src | wc -l",
    "sort -u words.txt",
    "diff a.txt b.txt",
    "jq .name package.json",
    "tree -L 2",
  ].map(bash),
  ...[
    "mkdir -p src/util",
    "rm -rf dist",
    "rm tmp.log",
    "mv src/a.ts src/b.ts",
    "cp .env.example .env.test",
    "touch src/new.ts",
  ].map(bash),
  ...[
    "sed -i 's/3000/4000/' src/port.ts",
    "chmod +x scripts/run.sh",
    "bash scripts/run.sh",
    "make test",
    "make build",
  ].map(bash),
  ...[
    "python3 scripts/gen.py",
    "PORT=4000 node dist/index.js & sleep 1; kill %1",
    "docker compose config",
  ].map(bash),
  ...["cd src && ls", "npm run lint -- --fix", "for f in src/*.ts; do echo $f; done"].map(bash),
  ...["git log -1 --stat", "node --check dist/index.js", "cat tsconfig.json", "npx tsx src/index.ts"].map(
    bash,
  ),
  // Eight calls that leave the folder.
  bash("npm install zod"),
  bash("npm ci"),
  bash("curl -s https://api.github.com/repos/nodejs/node"),
  bash("git push origin fix-port"),
  fetch("https://nodejs.org/api/http.html"),
  fetch("https://developer.mozilla.org/en-US/docs/Web/API/URL"),
  bash("cat ~/.npmrc"),
  bash("echo alias x=y >> ~/.bashrc"),
]
