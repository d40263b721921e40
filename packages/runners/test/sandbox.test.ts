import { execFile } from 'node:child_process'
import { chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findSandbox, sandboxWords, type SandboxPaths } from '../src/index.ts'

// With the program of SCANFARM_TEST_BUBBLEWRAP.
const PATH = '/usr/local/bin:/usr/bin:/bin'
const isRoot = process.getuid?.() === 0
const NOBODY = isRoot ? { uid: 65_534, gid: 65_534 } : {}

let base: string
const at = (path: string): string => join(base, path)

beforeAll(async () => {
  base = await mkdtemp('/var/tmp/scanfarm-sandbox-')
  for (const folder of ['home/tools', 'home/lists/secret', 'home/work', 'home/more'])
    await mkdir(at(folder), { recursive: true })
  for (const file of [
    'home/own',
    'home/tools/tool',
    'home/lists/list',
    'home/lists/secret/key',
    'home/more/x',
  ])
    await writeFile(at(file), `content of ${file}\n`)
  await symlink(at('home/tools'), at('home/linked'))
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...NOBODY }
  await promisify(execFile)('chown', ['-R', `${uid}:${gid}`, base])
  await chown(base, uid, gid)
})
afterAll(() => rm(base, { recursive: true }))

const inside = async (places: Partial<SandboxPaths>, script: string): Promise<string> => {
  const sandbox = findSandbox(PATH, { hidden: [], visible: [], writable: [], ...places })
  if ('problem' in sandbox) throw new Error(sandbox.problem)
  const [program = '', ...words] = sandboxWords(sandbox, [at('home/work')], at('home/work'))
  const { stdout } = await promisify(execFile)(program, [...words, '/bin/sh', '-c', script], {
    ...NOBODY,
    env: { PATH },
  })
  return stdout
}

test('the deepest of the hidden, visible and writable paths decides, in any order', async () => {
  const places = {
    hidden: [at('home/lists/secret/key'), at('home'), at('missing')],
    visible: [at('home/tools'), at('home/linked'), at('home/nothing')],
    writable: [at('home/lists'), at('home/more/x')],
  }
  const script = `cd ${at('home')}; cat own tools/tool linked/tool lists/list more/x 2>&1
    echo new > lists/new; echo new >> more/x; echo new > tools/new; echo new > new; cat lists/secret/key; echo new > work/new`
  expect(await inside(places, `{ ${script}; } 2>/dev/null`)).toBe(
    [
      'cat: own: No such file or directory',
      'content of home/tools/tool',
      'content of home/tools/tool',
      'content of home/lists/list',
      'content of home/more/x',
      '',
    ].join('\n'),
  )
  const written = ['home/lists/new', 'home/work/new', 'home/more/x'].map((file) => readFile(at(file), 'utf8'))
  expect(await Promise.all(written)).toEqual(['new\n', 'new\n', 'content of home/more/x\nnew\n'])
  for (const file of ['home/tools/new', 'home/new'])
    await expect(readFile(at(file))).rejects.toThrow('ENOENT')
})

test('no setting makes the processes or devices of the machine visible', async () => {
  const places = { visible: ['/proc', '/dev'], writable: ['/', '/proc/sys', '/dev'] }
  expect(
    await inside(places, `ls -d /proc/${process.pid} /dev/sda /dev/vda /dev/kmsg 2>/dev/null; echo looked`),
  ).toBe('looked\n')
})

test('paths below a writable folder are ignored, because commands could replace them with links', async () => {
  await inside(
    { writable: [at('home')] },
    `mv ${at('home/more')} ${at('home/moved')}; ln -s ${at('home/lists/secret')} ${at('home/more')}`,
  )
  const places = {
    hidden: [at('home/lists/secret')],
    visible: [at('home/more')],
    writable: [at('home'), at('home/more')],
  }
  expect(
    await inside(
      places,
      `cat ${at('home/more/key')} ${at('home/lists/secret/key')} 2>/dev/null; echo looked`,
    ),
  ).toBe('looked\n')
})

test('a command in a sandbox gains no privileges', async () => {
  expect(await inside({}, 'grep NoNewPrivs /proc/self/status')).toMatch(/NoNewPrivs:\s+1/)
})
