// What every project has: tests, a build, checks. Which command that is, the files of its top folder say.
import type { Clause } from "./clause.ts"
import { match } from "./match.ts"
import type { Made } from "./results.ts"
import { type Proposal, run, says } from "./skill.ts"

type Task = "test" | "build" | "lint" | "typecheck" | "install"

/** The first file that is there decides. An empty command: that kind of project has none. */
const commands: [file: RegExp, commands: Partial<Record<Task, string>>][] = [
  [/^pnpm-lock\.yaml$/, script("pnpm", "pnpm run")],
  [/^yarn\.lock$/, script("yarn", "yarn run")],
  [/^bun\.lockb?$/, script("bun", "bun run")],
  [/^package\.json$/, script("npm", "npm run")],
  [
    /^Cargo\.toml$/,
    { test: "cargo test", build: "cargo build", lint: "cargo clippy", typecheck: "cargo check" },
  ],
  [
    /^go\.mod$/,
    { test: "go test ./...", build: "go build ./...", lint: "go vet ./...", typecheck: "go vet ./..." },
  ],
  [/^pom\.xml$/, { test: "mvn test", build: "mvn package" }],
  [/^gradlew$/, { test: "./gradlew test", build: "./gradlew build" }],
  [
    /^(?:Makefile|makefile)$/,
    { test: "make test", build: "make", lint: "make lint", install: "make install" },
  ],
  [/^requirements\.txt$/, { test: "python3 -m pytest", install: "pip install -r requirements.txt" }],
  [
    /^(?:pyproject\.toml|setup\.py|setup\.cfg|pytest\.ini|tox\.ini|conftest\.py|test_.*\.py|.*_test\.py|tests?\/|.*\.py)$/,
    { test: "python3 -m pytest", lint: "ruff check .", typecheck: "mypy .", install: "pip install ." },
  ],
]

function script(program: string, run: string): Record<Task, string> {
  const [build, lint, typecheck] = ["build", "lint", "typecheck"].map((name) => `${run} ${name}`)
  return {
    test: `${program} test`,
    build: build!,
    lint: lint!,
    typecheck: typecheck!,
    install: `${program} install`,
  }
}

const does =
  "run|execute|start|launch|do|try|rerun|re-run|perform|kick_off|check|check_if|check_whether|check_that|see_if|see_whether|verify|verify_that|whether|if|invoke"
const which = "$a|all|unit|whole|full|entire|complete|project|project's|npm|existing|of|own|automated|repo's"
const tests = "tests|test|test_suite|testsuite|specs|unit_tests|test_suites|testing|suite"
const after = "again|now|here|once|please|quickly|for_me|in|this|$a|project|repo|repository|locally|suite"
const outcome =
  "pass|passes|work|works|fail|fails|succeed|succeeds|passing|failing|green|red|ok|okay|still|broken|all|working|fine|currently"
const it =
  "it|this|everything|that|$a_project|$a_code|$a_app|project|code|app|this_repo|the_repo|repo|$a_build|build".replaceAll(
    "$a_",
    "the_",
  )

const forms: [Task, string[]][] = [
  [
    "test",
    [
      `${does} ${which}* ${tests} ${after}*`,
      `tests|test|test_it|test_this|test_everything|test_the_project|test_the_code|test_suite`,
      `${does}? do|does|are|is|did|will? ${which}* ${tests} ${outcome} ${outcome}* ${after}*`,
      `which|what|are_there_any|any|show|list|find|report $a|me|all|only* ${tests}? failing|broken|failed|red ${tests} are|is|do|we|have|there|are_there*`,
      `which|what|how_many ${tests} are|is|do|currently* fail|failing|failed|broken|red|pass|passing`,
    ],
  ],
  [
    "build",
    [
      `${does}? does|do|is? build|compile|rebuild $a? ${it}? ${after}*`,
      `${does} $a? build ${outcome}*`,
      `${does}? does|do|is $a? ${it} still? build|compile|builds|compiles|building|compiling ${outcome}*`,
      `${does} $a? ${it} builds|compiles|build|compile ${outcome}*`,
    ],
  ],
  [
    "lint",
    [
      `lint $a? ${it}? ${after}*`,
      `${does} $a? linter|lint|linting|linters|eslint|lint_check|style_check ${after}*`,
    ],
  ],
  [
    "typecheck",
    [
      `type-check|typecheck|type_check $a? ${it}?`,
      `${does} $a? type_checker|typechecker|type_check|type_checks|typecheck|type-check|types ${after}*`,
    ],
  ],
  ["install", ["install $a|all|project|npm* dependencies|deps|packages|requirements|modules"]],
]
const programs: Record<string, string> = {
  py: "python3",
  js: "node",
  mjs: "node",
  cjs: "node",
  ts: "node",
  sh: "bash",
  rb: "ruby",
  go: "go run",
  php: "php",
  pl: "perl",
}

export function project(clause: Clause): Proposal | undefined {
  const one = match(
    clause,
    `run|execute|start|launch|test|try only|just|$a|all|tests|test|script|program|file|in|of|from|for* <file:F>`,
  )
  if (one && !/[ *?]/.test(one.get("file")!))
    return runFile(one.get("file")!, /^test |\btests?\b/.test(clause.shape))
  const task = forms.find(([, list]) => match(clause, ...list))?.[0]
  if (!task) return undefined
  return {
    calls: [{ tool: "ls", args: {} }],
    isTest: task === "test",
    after: {
      pick: "own",
      tool: "bash",
      make: (_, made) => {
        const command = commandFor(task, made)
        return command ? run(command).calls : []
      },
      otherwise: `I know no command for that in a project like this one. Say it: run \`…\``,
    },
  }
}

function commandFor(task: Task, [listed]: Made[]): string | undefined {
  const names = (listed?.output ?? "").split("\n").map((line) => line.replace(/ {2}.*$/, ""))
  const kind = commands.find(([file, own]) => own[task] && names.some((name) => file.test(name)))
  return kind?.[1][task]
}

function runFile(file: string, isAsked: boolean): Proposal | undefined {
  const ending = file.slice(file.lastIndexOf(".") + 1)
  const isTest = isAsked || /[._-](?:test|spec)\.\w+$|(?:^|\/)test_[^/]*\.py$/.test(file)
  if (isTest && /^[cm]?[jt]sx?$/.test(ending)) return { ...run(`npm test -- ${file}`), isTest }
  if (isTest && ending === "py") return { ...run(`python3 -m pytest ${file}`), isTest }
  const program = programs[ending]
  return program ? { ...run(`${program} ${file}`), isTest } : undefined
}

/** Whether more is said of the tests that were just run: "… and tell me which ones fail". */
export function isAboutTests(clause: Clause): boolean {
  return (
    says(clause, /\b(?:fail\w*|pass\w*|broken|green|red|errors?|results?)\b/) && clause.tokens.length <= 12
  )
}
