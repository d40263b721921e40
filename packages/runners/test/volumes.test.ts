import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { planVolumes } from '../src/docker/volumes.ts'

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

const context = () => ({
  runUuid: crypto.randomUUID(),
  attempt: 1,
  folder: run,
  workspace: join(root, 'workspace'),
  marker: 'm',
  signal: new AbortController().signal,
  log: () => {},
})

const ask = (volume: string, ...allowed: string[]) => planVolumes([volume], allowed, context())

test('a run may always mount its own folders, but no link that leads outside', async () => {
  expect(await ask(`${run}:/data`)).toEqual({ binds: [`${run}:/data`], links: [] })
  expect(await ask(`${run}/inside/:/data:ro`)).toEqual({
    binds: [],
    links: [{ folder: run, below: 'inside', target: '/data', readOnly: true }],
  })
  await mkdir(join(root, 'workspace'))
  await ask(`${root}/workspace/x/y:/data`)
  expect(await readdir(join(root, 'workspace/x'))).toEqual(['y'])
  for (const allowed of [[], ['*']])
    await expect(ask(`${run}/trap:/data`, ...allowed)).rejects.toThrow(
      `the volume ${run}/trap:/data leads out of the folders of the run`,
    )
  await expect(ask(`${run}/../lists:/data`)).rejects.toThrow('not allowed by runner.docker_volumes')
})

test('a folder of the run under another name is found in the folder of the run', async () => {
  await symlink(root, join(root, 'other-name'))
  expect((await ask(`${root}/other-name/run/inside:/data`)).links).toMatchObject([{ below: 'inside' }])
})

test('the target of a folder below those of the run is apart from all other mounts', async () => {
  for (const target of ['/', '/etc', '/proc/x', run, `${run}/other`, root])
    await expect(ask(`${run}/inside:${target}`)).rejects.toThrow('must have a target that is not part of')
  for (const target of ['/data', '/data/deep', '/'])
    await expect(planVolumes([`${run}/inside:/data`, `cache:${target}`], ['*'], context())).rejects.toThrow(
      `not part of ${target} and does not contain it`,
    )
  await planVolumes([`${run}/inside:/data`, 'cache:/data2'], ['*'], context())
})

test('other folders and volumes must be allowed, and allowed for writing', async () => {
  await ask('/srv/lists:/data', '/srv/lists')
  await ask('/srv/lists/deep/er:/data:ro', '/srv/lists/:ro')
  await ask('/srv/any:/data:ro', '/:ro')
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

test('nothing is mounted that the engine finds in a folder that containers may write to', async () => {
  await mkdir(join(root, 'written/deep'), { recursive: true })
  await symlink(join(root, 'lists'), join(root, 'written/link'))
  await symlink(join(root, 'written/link'), join(root, 'to-link'))
  await symlink(join(root, 'lists'), join(run, 'to-lists'))
  await symlink(join(run, 'to-lists'), join(root, 'through-run'))
  await symlink('loop', join(root, 'loop'))
  const written = join(root, 'written')
  await ask(`${written}:/data`, written)
  await ask(`${written}/deep:/data`, `${root}/written/*`)
  await ask(`${written}/deep:/data`, '*')
  const refused = `is below ${written}, where containers may write`
  for (const volume of [`${written}/deep:/data`, `${written}/new/one:/data:ro`, `${root}/to-link:/data:ro`])
    await expect(ask(volume, written, `${root}:ro`, `${written}/deep`)).rejects.toThrow(refused)
  await expect(ask(`${written}/deep/er:/data`, `${written}/*`)).rejects.toThrow(
    `is below ${written}/deep, where`,
  )
  await expect(ask(`${root}/through-run:/data:ro`, `${root}:ro`)).rejects.toThrow(`is below ${run}, where`)
  await expect(ask(`${root}/loop:/data`, '*')).rejects.toThrow('more than 40 links')
})

test('an invalid volume is refused', async () => {
  for (const volume of ['', 'a:b', './here:/data', 'a/b:/data', '/a:/b:ro:x', ':/data'])
    await expect(ask(volume, '*')).rejects.toThrow('is invalid')
})
