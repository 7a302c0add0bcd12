// kill -9 while writing, and power cuts.
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { runFixture } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { acknowledged, verify } from "../../fixture/storage-verify.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("Storage loses no acknowledged write and shows no half-written one after kill -9", async () => {
  await using tmp = await tmpdir()
  const data = join(tmp.path, "data")
  let acks = new Map<string, number>()
  for (let i = 0; i < repeat(25, 500); i++) {
    await using writer = runFixture("storage-writer.ts", {
      args: [String(i * 1_000_000)],
      env: { VITAMIN_DATA_DIR: data },
    })
    await writer.line(i ? /^ready/ : /^\d+ \d+/)
    await sleep(Math.random() * 60)
    writer.process.kill("SIGKILL")
    await writer.exit
    acks = new Map([...acks, ...acknowledged(writer.lines)])
    await verify(data, acks)
  }
})

const noMount = mountProblem()

test("Storage loses no acknowledged write in a power cut", { skip: noMount }, async () => {
  await using tmp = await tmpdir()
  const image = join(tmp.path, "disk.img")
  for (let i = 0; i < repeat(5, 100); i++) {
    system("truncate", ["-s", "96M", image])
    system("mkfs.ext4", ["-q", "-F", image])
    const disk = mount(image, join(tmp.path, "disk"))
    let acks: Map<string, number>
    try {
      await using writer = runFixture("storage-writer.ts", { env: { VITAMIN_DATA_DIR: join(disk, "data") } })
      await writer.line(/^\d+ \d+/)
      await sleep(Math.random() * 300)
      writer.process.kill("SIGSTOP")
      await sleep(20)
      copyFileSync(image, `${image}.copy`)
      acks = acknowledged(writer.lines)
    } finally {
      system("umount", [disk])
    }
    const after = mount(`${image}.copy`, join(tmp.path, "after"))
    try {
      await verify(join(after, "data"), acks)
    } finally {
      system("umount", [after])
    }
  }
})

function mount(image: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  system("mount", ["-o", "loop", image, folder])
  return folder
}

/** Runs an administrator's tool, which may not be on the PATH. */
function system(command: string, args: string[]) {
  return execFileSync(command, args, { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` } })
}

function mountProblem(): string | false {
  if (process.getuid?.() !== 0) return "needs root to mount a disk image"
  if (!existsSync("/dev/loop-control")) return "this machine has no loop devices"
  try {
    system("mkfs.ext4", ["-V"])
    return false
  } catch {
    return "mkfs.ext4 is missing (package e2fsprogs)"
  }
}
