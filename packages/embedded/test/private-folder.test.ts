import { chmod, chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { makeDataDir } from '../src/index.ts'

let base = ''
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'scanfarm-private-'))
  await chmod(base, 0o755)
})
afterEach(() => rm(base, { recursive: true }))

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8)

test('Artifacts that are shared with a group on purpose stay shared, and are closed to all others', async () => {
  const modes: Readonly<Record<string, string>> = {
    '2775': '2770',
    '2750': '2750',
    '755': '700',
    '770': '700',
  }
  for (const [before, after] of Object.entries(modes)) {
    const artifacts = join(base, before, 'artifacts')
    await mkdir(artifacts, { recursive: true })
    await chmod(artifacts, Number.parseInt(before, 8))
    await makeDataDir(join(base, before))
    expect(await modeOf(artifacts)).toBe(after)
  }
})

const asRoot = process.getuid?.() === 0 ? test : test.skip

asRoot('Root without CAP_DAC_OVERRIDE can use a data folder of another user', async () => {
  const data = join(base, 'data')
  await mkdir(data)
  await chmod(data, 0o711)
  await chown(data, 65_534, 65_534)
  const program = `const { makeDataDir } = await import(${JSON.stringify(import.meta.resolve('../src/index.ts'))})
    console.log(await makeDataDir(${JSON.stringify(data)}))`
  const { stdout, stderr } = spawnSync(
    '/usr/bin/setpriv',
    [
      '--bounding-set=-all,+setuid,+setgid,+kill,+chown',
      '--inh-caps=-all',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ],
    { encoding: 'utf8' },
  )
  expect({ stdout, stderr }).toEqual({ stdout: `${data}\n`, stderr: '' })
})
