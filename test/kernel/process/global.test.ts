// The XDG folders and their defaults.
import assert from "node:assert/strict"
import { userInfo } from "node:os"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Global from "#kernel/process/global.ts"

const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, before)
})

const folders = [
  ["data", Global.data, "XDG_DATA_HOME", ".local/share"],
  ["config", Global.config, "XDG_CONFIG_HOME", ".config"],
  ["cache", Global.cache, "XDG_CACHE_HOME", ".cache"],
  ["state", Global.state, "XDG_STATE_HOME", ".local/state"],
] as const

for (const [name, folder, variable, fallback] of folders)
  test(`Global.${name}() is vitamin below ${variable}, or below ~/${fallback} when that is unset, empty or relative`, () => {
    delete process.env.VITAMIN_DATA_DIR
    process.env.HOME = "/home/person"
    process.env[variable] = "/xdg/place"
    assert.equal(folder(), "/xdg/place/vitamin")
    for (const value of ["", "relative/place", undefined]) {
      if (value === undefined) delete process.env[variable]
      else process.env[variable] = value
      assert.equal(folder(), `/home/person/${fallback}/vitamin`)
    }
  })

test("Global.data() is VITAMIN_DATA_DIR if that is an absolute path; it does not change the other folders", () => {
  process.env.XDG_DATA_HOME = "/xdg"
  process.env.XDG_STATE_HOME = "/xdg-state"
  process.env.VITAMIN_DATA_DIR = "/own/data"
  assert.equal(Global.data(), "/own/data")
  assert.equal(Global.state(), "/xdg-state/vitamin")
  for (const value of ["", "own/data"]) {
    process.env.VITAMIN_DATA_DIR = value
    assert.equal(Global.data(), "/xdg/vitamin")
  }
})

test("Global uses the user's home folder if HOME is empty or relative, never the current folder", () => {
  delete process.env.XDG_CONFIG_HOME
  for (const value of ["", "some/where"]) {
    process.env.HOME = value
    assert.equal(Global.config(), join(userInfo().homedir, ".config/vitamin"))
  }
})
