import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { openSecrets } from '../../src/users/isolation.ts'
import { isPrivate } from '../../src/users/open-files.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'scanfarm-open-'))
  chmodSync(base, 0o755)
})
afterEach(() => rmSync(base, { recursive: true }))

const place = (folderMode: number, fileMode: number): string => {
  const folder = mkdtempSync(join(base, 'folder-'))
  writeFileSync(join(folder, 'secret'), 'x')
  chmodSync(join(folder, 'secret'), fileMode)
  chmodSync(folder, folderMode)
  return join(folder, 'secret')
}

const root = { kind: 'uids', range: { first: 40_000, last: 40_001 } } as const

test('Files with secrets that the users of commands can read are reported with a command that closes them', () => {
  const open = place(0o711, 0o644)
  const linked = join(base, 'link')
  symlinkSync(open, linked)
  const paths = [
    open,
    linked,
    place(0o700, 0o644),
    place(0o755, 0o640),
    place(0o755, 0o600),
    join(base, 'none'),
  ]
  const settings = { files: paths.map((path) => ({ path, containsSecrets: true })) }
  expect(openSecrets(settings, root)).toEqual(
    [open, linked].map((path) => `${path} holds secrets and every step can read it: chmod o-r ${path}`),
  )
  expect(openSecrets({ files: [{ path: open, containsSecrets: false }] }, root)).toEqual([])
  expect(openSecrets(settings, { kind: 'none', problem: 'it is so' })).toEqual([])
})

test('A folder is private when other users have no permissions', () => {
  for (const [mode, expected] of [
    [0o700, true],
    [0o770, true],
    [0o711, false],
    [0o704, false],
  ] as const) {
    const folder = join(base, mode.toString(8))
    mkdirSync(folder)
    chmodSync(folder, mode)
    expect(isPrivate(folder)).toBe(expected)
  }
  expect(isPrivate(join(base, 'none'))).toBe(false)
})
