// script/release.ts in a clone of this checkout.
import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { version } from "#util/version.ts"
import { checkTarball } from "../../script/release/check-tarball.ts"
import { nextVersion, withRelease } from "../../script/release/next-version.ts"
import { pack } from "../fixture/pack.ts"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

const root = resolve(import.meta.dirname, "../..")
const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]

/** The files of this checkout as the one commit of a repository on main. */
function copyOf(tmp: Tmp): { folder: string; git: (...args: string[]) => string } {
  const folder = join(tmp.path, "clone")
  mkdirSync(folder)
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  })
  const list = join(tmp.path, "files")
  const kept = files
    .toString()
    .split("\0")
    .filter((file) => file && existsSync(join(root, file)))
  writeFileSync(list, kept.join("\0"))
  execFileSync("bash", ["-c", `tar -c --null -T ${list} | tar -x -C ${folder}`], { cwd: root })
  const git = (...args: string[]) =>
    execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8", env: tmp.env }).trim()
  git("init", "--quiet", "--initial-branch=main")
  // The ignored name has a slash, which a link does not match.
  writeFileSync(join(folder, ".git/info/exclude"), "node_modules\n")
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  git("add", "--all")
  git("commit", "--quiet", "--message", "chore(test): a copy")
  return { folder, git }
}

/** Where the release has its own files, which it removes. */
function temporary(tmp: Tmp): string {
  const folder = join(tmp.path, "temporary")
  mkdirSync(folder, { recursive: true })
  return folder
}

function release(tmp: Tmp, folder: string, ...args: string[]) {
  const variables = {
    ...{ GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.com" },
    ...{ GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@example.com" },
  }
  const { NODE_TEST_CONTEXT: _, ...env } = tmp.env
  const { status, stdout, stderr } = spawnSync(process.execPath, ["script/release.ts", ...args], {
    cwd: folder,
    env: { ...env, ...variables, TMPDIR: temporary(tmp) },
    encoding: "utf8",
  })
  return { status, out: stdout, err: stderr }
}

test("npm run release builds, checks, packs and tags; a dry run or a failed check changes nothing", async () => {
  await using tmp = await tmpdir()
  const { folder, git } = copyOf(tmp)
  const out = join(tmp.path, "out")
  const dry = release(tmp, folder, "minor", "--dry-run", "--check", "true", "--out", out)
  assert.equal(dry.status, 0, dry.err + dry.out)
  assert.match(dry.out, /\d+ files, [\d.]+ MB packed.*\n {2}\d+ licences\n {2}vitamin --version: 0\.\d+\.0\n/)
  assert.equal(git("status", "--porcelain"), "")
  assert.equal(git("tag"), "")
  const [tarball] = readdirSync(out).filter((name) => name.endsWith(".tgz"))
  const sum = createHash("sha256")
    .update(readFileSync(join(out, tarball!)))
    .digest("hex")
  assert.equal(readFileSync(join(out, "SHA256SUMS"), "utf8"), `${sum}  ${tarball}\n`)
  const again = release(tmp, folder, "minor", "--dry-run", "--check", "true", "--out", out)
  assert.match(again.err, /has files of another release/)
  const failed = release(
    tmp,
    folder,
    "minor",
    "--tag",
    "--check",
    "exit 3",
    "--out",
    join(tmp.path, "second"),
  )
  assert.equal(failed.status, 1, failed.out)
  assert.match(failed.err, /bash -c exit 3 failed/)
  assert.deepEqual([git("tag"), git("status", "--porcelain")], ["", ""])
  assert.deepEqual(readdirSync(join(tmp.path, "second")), [])
  const done = release(
    tmp,
    folder,
    "99.0.0",
    "--tag",
    "--check",
    "test -f dist/vitamin.js",
    "--out",
    join(tmp.path, "third"),
  )
  assert.equal(done.status, 0, done.err + done.out)
  assert.match(done.out, /Nothing is published\. To publish: git push --follow-tags && npm publish /)
  assert.deepEqual([git("tag"), git("log", "-1", "--format=%s")], ["v99.0.0", "chore(release): 99.0.0"])
  assert.equal(git("status", "--porcelain"), "")
  assert.match(git("show", "HEAD:CHANGELOG.md"), /^## Unreleased\n\n## 99\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n### /m)
  assert.match(git("show", "HEAD:src/util/version.ts"), /version = "99\.0\.0"/)
  assert.equal(git("show", "HEAD:package-lock.json").split('"version": "99.0.0"').length, 3)
})

test("npm run release refuses a dirty tree, another branch, a known tag and a wrong version", async () => {
  await using tmp = await tmpdir()
  const { folder, git } = copyOf(tmp)
  const says = (pattern: RegExp, ...args: string[]) => {
    const ran = release(tmp, folder, ...args, "--dry-run", "--check", "true")
    assert.equal(ran.status, 1, ran.out)
    assert.match(ran.err, pattern)
    assert.doesNotMatch(ran.out, /build/)
  }
  says(/Usage: npm run release/)
  says(/"next" is not patch, minor, major or a version/, "next")
  says(/0\.0\.1 is not above the current version/, "0.0.1")
  says(/is not above the current version/, version)
  says(/"1\.0\.0-beta" is not/, "1.0.0-beta")
  git("tag", "v7.0.0")
  says(/The tag v7\.0\.0 exists already/, "7.0.0")
  git("switch", "--quiet", "--create", "work")
  says(/Releases are made on main, and this is work/, "patch")
  git("switch", "--quiet", "main")
  writeFileSync(join(folder, "left.txt"), "x")
  says(/The tree has changes.*left\.txt/s, "patch")
  assert.deepEqual(readdirSync(temporary(tmp)), [])
})

test("npm run release restores the files if it fails half-way", async () => {
  await using tmp = await tmpdir()
  const { folder, git } = copyOf(tmp)
  const lock = join(folder, "package-lock.json")
  writeFileSync(lock, readFileSync(lock, "utf8").replaceAll(`"version": "${version}"`, '"version": "0.0.0"'))
  git("commit", "--quiet", "--all", "--message", "chore(test): another version in the lock")
  const ran = release(tmp, folder, "patch", "--check", "true")
  assert.equal(ran.status, 1, ran.out)
  assert.match(ran.err, /package-lock\.json does not have the version/)
  assert.equal(git("status", "--porcelain"), "")
})

test("nextVersion() and withRelease() follow semantic versions and move what is unreleased", () => {
  assert.deepEqual(
    ["patch", "minor", "major", "2.3.5"].map((step) => nextVersion("2.3.4", step)),
    ["2.3.5", "2.4.0", "3.0.0", "2.3.5"],
  )
  const log = "# Changelog\n\n## Unreleased\n\n### Added\n- A thing.\n\n## 0.1.0 (2026-01-01)\n- First.\n"
  assert.equal(
    withRelease(log, "0.2.0", "2026-02-03"),
    "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-02-03)\n\n### Added\n- A thing.\n\n## 0.1.0 (2026-01-01)\n- First.\n",
  )
  assert.throws(() => withRelease(withRelease(log, "0.2.0", "x"), "0.3.0", "x"), /nothing under Unreleased/)
  assert.throws(() => withRelease("# Changelog\n", "0.3.0", "x"), /has no section/)
})

test("checkTarball() refuses foreign files, paths of the checkout, missing files and another version", async () => {
  await using tmp = await tmpdir()
  const at = join(tmp.path, "package")
  const packed = (change: () => void) => {
    execFileSync("bash", ["-c", `rm -rf package && tar xzf ${pack()}`], { cwd: tmp.path })
    change()
    execFileSync("tar", ["-I", "gzip -1", "-cf", "changed.tgz", "package"], { cwd: tmp.path })
    return () => checkTarball(join(tmp.path, "changed.tgz"), { version, root: "/home/somebody/checkout" })
  }
  assert.throws(
    packed(() => writeFileSync(join(at, "dist/a.js.map"), "{}")),
    /do not belong into it: dist\/a\.js\.map/,
  )
  assert.throws(
    packed(() => writeFileSync(join(at, ".env"), "A=b")),
    /do not belong into it: \.env/,
  )
  const leak = () => appendFileSync(join(at, "dist/index.js"), "\n// /home/somebody/checkout/src")
  assert.throws(packed(leak), /paths of this checkout are in dist\/index\.js/)
  assert.throws(
    packed(() => execFileSync("rm", [join(at, "dist/client.d.ts")])),
    /it lacks dist\/client\.d\.ts/,
  )
  const gpl = () => appendFileSync(join(at, "dist/LICENSES.txt"), "\nbad 1.0.0 (GPL-3.0)\n")
  assert.throws(packed(gpl), /not permissive: bad 1\.0\.0 \(GPL-3\.0\)/)
  const noNames = () => writeFileSync(join(at, "dist/LICENSES.txt"), "none\n")
  assert.throws(packed(noNames), /names no package/)
  const large = () => writeFileSync(join(at, "dist/large.bin"), Buffer.alloc(33e6))
  assert.throws(packed(large), /MB unpacked; the budget is 20 and 32/)
  const says = (answers: object) => () =>
    writeFileSync(
      join(at, "dist/vitamin.js"),
      `console.log(${JSON.stringify(answers)}[process.argv[2]] ?? "")`,
    )
  assert.throws(packed(says({ "--version": version })), /does not list the tool read/)
  assert.throws(packed(says({ "--version": version, tool: "read  Read" })), /vitamin run answers nothing/)
  const older = packed(() => {})
  assert.throws(
    () => checkTarball(join(tmp.path, "changed.tgz"), { version: "9.9.9", root: "/home/somebody/checkout" }),
    /--version says .*, not 9\.9\.9/,
  )
  assert.ok(older().length > 0)
})
