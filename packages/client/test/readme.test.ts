import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { startFarm, TOKEN } from './_farm.ts'

const packageFolder = join(import.meta.dirname, '..')

test('the examples of the README run as one program', async () => {
  await using farm = await startFarm()
  const text = await readFile(join(packageFolder, 'README.md'), 'utf8')
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
  expect(blocks.length).toBeGreaterThan(4)
  const file = join(farm.folder, 'readme.ts')
  const own = JSON.stringify(new URL('../src/index.ts', import.meta.url).href)
  await writeFile(join(farm.folder, 'package.json'), '{"type":"module"}')
  await writeFile(file, blocks.join('\n').replace("'@scanfarm/client'", own))
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    env: { SCANFARM_URL: farm.url, SCANFARM_TOKEN: TOKEN },
  })
  expect(stdout.split('\n')).toEqual([
    '2 runs',
    '404 not_found 0 true',
    '2 runs listed',
    '2 completed',
    'run.completed',
    'custom.hello true',
    '',
  ])
})
