import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { removeLeftovers } from '../../src/users/leftovers.ts'

const asRoot = process.getuid?.() === 0 ? test : test.skip

asRoot('Files of a user of commands in shared folders are removed, and no other files', async () => {
  const user = { uid: 39_871, gid: 39_871 }
  const name = `scanfarm-leftover-${process.pid}`
  const left = ['/tmp', '/var/tmp', '/dev/shm'].map((folder) => `${folder}/${name}`)
  const others = left.map((path) => `${path}-of-others`)
  for (const path of others) writeFileSync(path, '')
  const script = `for at in "$@"; do mkdir -p "$at/deep/er"; touch "$at/deep/er/file"; chmod 0 "$at/deep"; done
    touch "$1-\\377"; ln -s "${others[0]}" "$1-link"`
  // The second time the folders are known.
  for (const _times of [1, 2]) {
    execFileSync('/bin/sh', ['-c', script, 'sh', ...left], { ...user, cwd: '/' })
    await removeLeftovers(user)
    expect(left.filter((path) => existsSync(path))).toEqual([])
    await removeLeftovers({ uid: user.uid + 1, gid: user.gid + 1 })
  }
  expect(left.concat(`${left[0]}-link`).filter((path) => existsSync(path))).toEqual([])
  // It fails when another program removes its own folder meanwhile, and goes on.
  expect(spawnSync('find', ['/tmp', '-maxdepth', '1', '-uid', String(user.uid)]).stdout.toString()).toBe('')
  expect(others.filter((path) => existsSync(path))).toEqual(others)
  for (const path of others) rmSync(path)
})
