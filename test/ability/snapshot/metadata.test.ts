// Changes of a command besides the content of files: modes, folders, links, named pipes. All of them are shown,
// reverted, and restored when the revert is reverted.
import assert from "node:assert/strict"
import { chmodSync, linkSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { command, differences, inProject, revert, sessionId, treeOf } from "./harness.ts"

/** What is done, and the line of the diff that says so. */
const cases: [what: string, script: string, shown: RegExp][] = [
  ["chmod 600 → 666 of a file that git has", "chmod 666 key", /^mode changed: key \(600 to 666\)$/m],
  ["chmod +x of a file that git has", "chmod 755 plain", /^mode changed: plain \(644 to 755\)$/m],
  ["chmod g-r of a file that git has", "chmod 600 plain", /^mode changed: plain \(644 to 600\)$/m],
  ["chmod of a changed file", "chmod 640 dirty", /^mode changed: dirty \(644 to 640\)$/m],
  ["chmod of a file that git does not know", "chmod 4711 new", /^mode changed: new \(604 to 4711\)$/m],
  ["chmod and new bytes", "echo more >> key; chmod 640 key", /^mode changed: key \(600 to 640\)$/m],
  ["chmod of a folder", "chmod 700 dir", /^mode changed: dir\/ \(755 to 700\)$/m],
  ["chmod of an empty folder", "chmod 700 empty", /^mode changed: empty\/ \(750 to 700\)$/m],
  ["chmod of everything", "chmod -R go-rwx .", /^mode changed: dir\/ \(755 to 700\)$/m],
  ["a folder that is closed", "chmod 000 dir/sub; chmod 500 dir", /^mode changed: dir\/sub\/ /m],
  ["an empty folder made", "mkdir -p made/deep", /^folder made: made\/deep\/$/m],
  ["an empty folder removed", "rmdir empty", /^folder removed: empty\/$/m],
  ["a folder with files removed", "chmod 700 dir/sub; rm -r dir", /^folder removed: dir\/$/m],
  ["a folder replaced by a file", "rm -r dir; echo file > dir", /^folder removed: dir\/$/m],
  ["an empty folder replaced by a file", "rmdir empty; echo file > empty", /^folder removed: empty\/$/m],
  ["a symbolic link retargeted", "ln -sfn dir link", /^-plain\n/m],
  ["a hard link made to a new name", "ln plain other", /^hard link made: plain, other$/m],
  ["a hard link made of two equal files", "ln -f plain same", /^hard link made: .*plain.*$/m],
  ["a hard link broken by sed", "sed -i s/one/two/ one", /^hard link broken: one, two$/m],
  ["a hard link broken by mv", "mv one three", /^hard link broken: one, two$/m],
  ["a file written through a hard link", "echo more >> one", /^\+more$/m],
  ["a hard link put to another file", "ln -f plain one", /^hard link broken: one, two$/m],
  ["a hard link removed with its folder", "rm one two", /^-one$/m],
  ["a named pipe made", "mkfifo pipe", /^named pipe made: pipe$/m],
  ["a file replaced by a named pipe", "rm plain; mkfifo plain", /^named pipe made: plain$|^-plain$/m],
  [
    "many at once",
    "mkfifo dir/p; mv dir moved; chmod 400 key; ln -f key same; mkdir -m 711 e2; rmdir empty",
    /./,
  ],
]

for (const git of [true, false])
  for (const [what, script, shown] of cases)
    test(`undo and its undo cover ${what}${git ? "" : ", outside git"}`, () =>
      inProject(
        async (tmp) => {
          prepare(tmp, git)
          const before = treeOf(tmp.path)
          const { messageId } = await command(script)
          const after = treeOf(tmp.path)
          assert.notDeepEqual(differences(before, after), [])
          const { text } = await Snapshot.diff({ sessionId })
          assert.match(text, shown)
          const reverted = await revert(messageId)
          assert.deepEqual(treeOf(tmp.path), before)
          assert.equal((await Snapshot.diff({ sessionId })).text, "")
          await revert(reverted.messageId)
          const gone = what.includes("pipe") || what === "many at once"
          assert.deepEqual(
            differences(treeOf(tmp.path), after).filter((path) => !(gone && isPipe(path))),
            [],
          )
        },
        { git },
      ))

function isPipe(path: string): boolean {
  return /(^|\/)(pipe|p|plain)$/.test(path)
}

function prepare(tmp: Tmp, git: boolean): void {
  for (const name of ["plain", "key", "dirty", "dir/a", "dir/sub/b"]) tmp.write(name, `${name}\n`)
  tmp.write("same", "plain\n")
  tmp.write("one", "one\n")
  linkSync(join(tmp.path, "one"), join(tmp.path, "two"))
  symlinkSync("plain", join(tmp.path, "link"))
  chmodSync(join(tmp.path, "key"), 0o600)
  if (git) {
    tmp.git("add", "-A")
    tmp.git("commit", "-qm", "files")
  }
  tmp.write("dirty", "changed\n")
  tmp.write("new", "new\n")
  chmodSync(join(tmp.path, "new"), 0o604)
  mkdirSync(join(tmp.path, "empty"))
  chmodSync(join(tmp.path, "empty"), 0o750)
}
