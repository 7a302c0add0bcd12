// Documents that a project might link to, requests that one of them is about, and requests that none is about.

export const documents: Record<string, { link: string; text: string }> = {
  "docs/deploy.md": {
    link: "How to deploy and release",
    text: "# Deploying\n\nReleases go out from main on Tuesdays. Tag the commit, wait for the pipeline, then promote staging to production.\n\n## Rollback\n\nUse `make rollback VERSION=x`. Never roll back across a migration.",
  },
  "docs/testing.md": {
    link: "Testing guide",
    text: "# Testing\n\nRun unit tests with `npm test`. Integration tests need Docker. Every bug fix starts with a failing test.\n\n## Fixtures\n\nFixtures live in test/fixture; do not mock our own modules.",
  },
  "docs/database.md": {
    link: "Database conventions and migrations",
    text: "# Database\n\nPostgreSQL 16. Each migration has up and down. Column names are snake_case.\n\n## Indexes\n\nCreate indexes concurrently; add one for each foreign key.",
  },
  "docs/api-style.md": {
    link: "REST API style",
    text: "# API style\n\nResources are plural nouns. Errors have a code and a message. Pagination by cursor.\n\n## Versioning\n\nBreaking changes need a new version in the path.",
  },
  "docs/security.md": {
    link: "Security checklist",
    text: "# Security\n\nNever log secrets or tokens. Validate all input. Passwords are hashed with argon2.\n\n## Sessions\n\nCookies are HttpOnly and SameSite=strict.",
  },
  "docs/frontend.md": {
    link: "Frontend components and styling",
    text: "# Frontend\n\nReact function components with hooks. CSS modules, no inline styles. Accessible names for every button.\n\n## State\n\nServer state through queries, local state through useState.",
  },
  "docs/i18n.md": {
    link: "Translations",
    text: "# Internationalisation\n\nAll user-visible strings go through t(). Keys are in locales/en.json; translators fill the others.",
  },
  "docs/logging.md": {
    link: "Logging and monitoring",
    text: "# Observability\n\nStructured JSON logs with request ids. Metrics in Prometheus format; alerts go to the on-call engineer.",
  },
  "docs/git.md": {
    link: "Commit messages and pull requests",
    text: "# Git workflow\n\nConventional commits. Rebase before merging, squash fixups. A pull request needs one review.",
  },
  "docs/performance.md": {
    link: "Performance budgets",
    text: "# Performance\n\nThe first page loads within 200 KB of JavaScript. Profile before you optimise. Cache headers on static assets.",
  },
  "docs/python.md": {
    link: "Python code style",
    text: "# Python\n\nType hints everywhere. Ruff formats and lints. No wildcard imports; pathlib rather than os.path.",
  },
  "docs/docker.md": {
    link: "Container images",
    text: "# Docker\n\nMulti-stage builds on distroless. Pin digests. The image runs as a non-root user.",
  },
}

export const fitting: [intent: string, path: string][] = [
  ["deploy the latest version to production", "docs/deploy.md"],
  ["how do we roll back a bad release?", "docs/deploy.md"],
  ["write a test for the parser bug", "docs/testing.md"],
  ["add integration tests for the payment flow", "docs/testing.md"],
  ["add a column last_login to the users table", "docs/database.md"],
  ["create a migration that adds an index on orders.customer_id", "docs/database.md"],
  ["add a new endpoint that lists invoices", "docs/api-style.md"],
  ["paginate the GET /users route", "docs/api-style.md"],
  ["hash the password before storing it", "docs/security.md"],
  ["make sure that the login does not leak tokens in logs", "docs/security.md"],
  ["add a dark mode toggle button to the settings page", "docs/frontend.md"],
  ["refactor the Header component to use hooks", "docs/frontend.md"],
  ["translate the error messages into German", "docs/i18n.md"],
  ["add structured logging to the worker", "docs/logging.md"],
  ["alert when the queue is too long", "docs/logging.md"],
  ["commit this and open a pull request", "docs/git.md"],
  ["write a commit message for these changes", "docs/git.md"],
  ["the page loads slowly, make the bundle smaller", "docs/performance.md"],
  ["add type hints to utils.py", "docs/python.md"],
  ["shrink the docker image", "docs/docker.md"],
  ["the Dockerfile runs as root, fix it", "docs/docker.md"],
  ["what are our rules for naming columns?", "docs/database.md"],
]

export const others: string[] = [
  "hello",
  "thanks, go on",
  "what is 2 + 2?",
  "fix the typo in README.md",
  "yes",
  "explain what this function does",
  "rename the variable foo to bar in src/a.ts",
  "why does the program print undefined here?",
  "list the files in this folder",
  "continue",
  "find all TODOs",
  "what does line 40 of main.c mean?",
  "sort the array before returning it",
  "write a haiku about the sea",
  "read src/parser.ts and tell me how it works",
  "remove the unused import",
  "add a flag --verbose to the command line",
  "calculate the distance between two points",
  "please undo your last change",
  "make the regex match unicode letters",
  "convert this callback to async/await",
  "implement a binary search tree",
  "who wrote this?",
  "increase the timeout to 30 seconds",
]
