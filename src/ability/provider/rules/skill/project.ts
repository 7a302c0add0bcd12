// Runs the tests, the build or the checks of a project. The files of its top folder decide the command.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { match } from "#ability/provider/rules/words/match.ts"
import { type Proposal, type Result, run, says } from "./proposal.ts"

const tasks = ["test", "build", "lint", "typecheck", "install"] as const
type Task = (typeof tasks)[number]

/** The first file that exists decides; its commands are in the order of the tasks. */
const commands: [file: RegExp, ...commands: string[]][] = [
  ...(["pnpm", "yarn", "bun", "npm"] as const).map((name): [RegExp, ...string[]] => [
    { pnpm: /^pnpm-lock/, yarn: /^yarn\.lock/, bun: /^bun\.lock/, npm: /^package\.json/ }[name],
    `${name} test`,
    ...["build", "lint", "typecheck"].map((script) => `${name} run ${script}`),
    `${name} install`,
  ]),
  [/^Cargo\.toml/, "cargo test", "cargo build", "cargo clippy", "cargo check"],
  [/^go\.mod/, "go test ./...", "go build ./...", "go vet ./...", "go vet ./..."],
  [/^pom\.xml/, "mvn test", "mvn package"],
  [/^gradlew/, "./gradlew test", "./gradlew build"],
  [/^[Mm]akefile/, "make test", "make", "make lint", "", "make install"],
  [/^requirements\.txt/, "python3 -m pytest", "", "", "", "pip install -r requirements.txt"],
  [
    /^(?:pyproject\.toml|setup\.|pytest\.ini|tox\.ini|tests?\/|.*\.py\b)/,
    "python3 -m pytest",
    "",
    "ruff check .",
  ],
]

const does =
  "run|execute|start|launch|do|try|rerun|re-run|perform|kick_off|check|check_if|check_whether|check_that|see_if|see_whether|verify|verify_that|whether|if|invoke"
const which = "$a|all|unit|whole|full|entire|complete|project|project's|npm|existing|of|own|automated|repo's"
const tests = "tests|test|test_suite|testsuite|specs|unit_tests|test_suites|testing|suite"
const after = "again|now|here|once|please|quickly|for_me|in|this|$a|project|repo|repository|locally|suite"
const outcome =
  "pass|passes|work|works|fail|fails|succeed|succeeds|passing|failing|green|red|ok|okay|still|broken|all|working|fine|currently"
const it =
  "it|this|everything|that|the_project|the_code|the_app|project|code|app|this_repo|the_repo|repo|the_build|build"
const builds = "build|compile|builds|compiles|building|compiling"

const forms: Record<Task, string[]> = {
  test: [
    `${does} ${which}* ${tests} ${after}*`,
    "tests|test|test_it|test_this|test_everything|test_the_project|test_the_code|test_suite",
    `${does}? do|does|are|is|did|will? ${which}* ${tests} ${outcome} ${outcome}* ${after}*`,
    `which|what|are_there_any|any|show|list|find|report $a|me|all|only* failing|broken|failed|red ${tests} are|is|do|we|have|there*`,
    `which|what|how_many ${tests} are|is|do|currently* fail|failing|failed|broken|red|pass|passing`,
  ],
  build: [
    `build|compile|rebuild $a? ${it}? ${after}*`,
    `${does} $a? build ${outcome}* ${after}*`,
    `${does}? does|do|is? $a? ${it} still? ${builds} ${outcome}*`,
  ],
  lint: [`lint $a? ${it}? ${after}*`, `${does} $a? linter|lint|linting|linters|eslint|lint_check ${after}*`],
  typecheck: [
    `type-check|typecheck|type_check $a? ${it}?`,
    `${does} $a? type_checker|typechecker|type_check|type_checks|typecheck|type-check|types ${after}*`,
  ],
  install: ["install $a|all|project|npm* dependencies|deps|packages|requirements|modules"],
}

export function project(clause: Clause): Proposal | undefined {
  const one = match(
    clause,
    "run|execute|start|launch|test|try only|just|$a|all|tests|test|script|program|file|in|of|from|for* <file:F>",
  )
  if (one) return runFile(one.get("file")!, says(clause, /^test |\btests?\b/))
  const task = tasks.find((name) => match(clause, ...forms[name]))
  if (!task) return undefined
  return {
    calls: [{ tool: "ls", args: {} }],
    isTest: task === "test",
    after: {
      pick: "own",
      tool: "bash",
      make: (_, made) => commandFor(task, made).flatMap((command) => run(command).calls),
      otherwise: "I know no command for that in a project like this one. Say it: run `…`",
    },
  }
}

function commandFor(task: Task, [listed]: Result[]): string[] {
  const names = (listed?.output ?? "").split("\n")
  const at = tasks.indexOf(task) + 1
  const kind = commands.find((own) => own[at] && names.some((name) => own[0].test(name)))
  return kind ? [String(kind[at])] : []
}

const programs: Record<string, string> = { py: "python3", sh: "bash", rb: "ruby", go: "go run", php: "php" }

function runFile(file: string, isAsked: boolean): Proposal | undefined {
  if (!/^[\w.@/+~-]+$/.test(file)) return undefined
  const ending = file.slice(file.lastIndexOf(".") + 1)
  const isScript = /^[cm]?[jt]sx?$/.test(ending)
  const isTest = isAsked || /[._-](?:test|spec)\.\w+$|(?:^|\/)test_[^/]*\.py$/.test(file)
  const program =
    isTest && isScript ? "npm test --" : isTest && ending === "py" ? "python3 -m pytest" : undefined
  const runner = program ?? (isScript ? "node" : programs[ending])
  return runner ? { ...run(`${runner} ${file}`), isTest } : undefined
}

/** Whether the clause asks about the tests that the step before runs: "… and tell me which ones fail". */
export function isAboutTests(clause: Clause): boolean {
  return (
    says(clause, /\b(?:fail\w*|pass\w*|broken|green|red|errors?|results?)\b/) && clause.tokens.length <= 12
  )
}
