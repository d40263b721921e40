import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHostRunners } from '../src/index.ts'

const env = { PATH: '/usr/bin:/bin' }
const USER = { uid: 65_534, gid: 65_534 }
const asRoot = process.getuid?.() === 0 ? describe : describe.skip

asRoot.each(['perl', 'node'] as const)('commands of the launcher in %s', (launcher) => {
  let folder: string
  beforeAll(async () => {
    // A place where setuid programs work.
    folder = await mkdtemp('/var/tmp/scanfarm-privileges-')
    await chmod(folder, 0o755)
    await copyFile('/usr/bin/id', join(folder, 'id'))
    await chmod(join(folder, 'id'), 0o4755)
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** `id`: a program of root with the setuid bit. Each start of a command is tested: with and without a shell. */
  const outputs = async (noNewPrivileges: boolean): Promise<string[]> => {
    await using provider = createHostRunners({ launcher, bounds: { noNewPrivileges } })
    const signal = new AbortController().signal
    const context = {
      runUuid: crypto.randomUUID(),
      attempt: 1,
      folder,
      marker: `privileges-${launcher}`,
      signal,
    }
    await using runner = await provider.open({ type: 'host' }, { ...context, owner: USER, log: () => {} })
    const said: string[] = []
    for (const script of [`${folder}/id -u`, `grep NoNewPrivs /proc/self/status; ${folder}/id -u`]) {
      let text = ''
      await runner.run(
        { argv: ['/bin/sh', '-c', script], env },
        { signal, onOutput: (_stream, chunk) => void (text += chunk.toString()) },
      )
      said.push(text)
    }
    return said
  }

  test('gain no privileges by setuid programs', async () => {
    expect(await outputs(true)).toEqual([`${USER.uid}\n`, `NoNewPrivs:\t1\n${USER.uid}\n`])
  })

  test('gain them if the settings allow it', async () => {
    expect(await outputs(false)).toEqual(['0\n', 'NoNewPrivs:\t0\n0\n'])
  })
})
