import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { refuseVolumes } from '../src/docker/volumes.ts'

let root: string
let run: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'scanfarm-volumes-'))
  run = join(root, 'run')
  await mkdir(join(run, 'inside'), { recursive: true })
  await mkdir(join(root, 'lists'))
  await symlink('/etc', join(run, 'trap'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const ask = (volume: string, ...allowed: string[]) =>
  refuseVolumes([volume], allowed, {
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder: run,
    workspace: join(root, 'workspace'),
    marker: 'm',
    signal: new AbortController().signal,
    log: () => {},
  })

test('a run may always mount its own folders, but no link that leads outside', async () => {
  await ask(`${run}:/data`)
  await ask(`${run}/inside:/data:ro`)
  await ask(`${root}/workspace/x:/data`)
  await expect(ask(`${run}/trap:/data`)).rejects.toThrow(
    `${run}/trap (which resolves to /etc) is not allowed`,
  )
  await expect(ask(`${run}/../lists:/data`)).rejects.toThrow('not allowed by runner.docker_volumes')
})

test('other folders and volumes must be allowed, and allowed for writing', async () => {
  await ask('/srv/lists:/data', '/srv/lists')
  await ask('/srv/lists/deep/er:/data', '/srv/lists/')
  await ask('/srv/lists/:/data:ro', '/srv/lists:ro')
  await ask('cache:/data', 'ca*')
  await ask('/anything:/data', '*')
  await ask('/only-in-the-container')
  await expect(ask('/srv/listsX:/data', '/srv/lists')).rejects.toThrow('not allowed')
  await expect(ask('/srv/lists/../x:/data', '/srv/lists')).rejects.toThrow('/srv/x is not allowed')
  await expect(ask('/:/data', '/srv/lists')).rejects.toThrow('not allowed')
  await expect(ask('/srv/lists:/data', '/srv/lists:ro')).rejects.toThrow(
    'may only be mounted read-only: write /srv/lists:/data:ro',
  )
})

test('an invalid volume is refused', async () => {
  for (const volume of ['', 'a:b', './here:/data', 'a/b:/data', '/a:/b:ro:x', ':/data'])
    await expect(ask(volume, '*')).rejects.toThrow('is invalid')
})
