import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { NEVER, PATH, see, sh, type Harness } from './harness.ts'

/** Arguments, variables, folder and files of a program. */
export function passesInput(harness: Harness): void {
  describe('the input of a program', () => {
    test('stdin is empty', async () => {
      expect(await see(harness.runner, sh('cat; echo end'))).toMatchObject({ stdout: 'end\n' })
    })

    test('the environment contains the given variables and none of this process', async () => {
      process.env['SCANFARM_CONFORMANCE_SECRET'] = 'secret'
      const given = { PATH, EMPTY: '', QUOTES: `a 'b' "c" $HOME \`d\` \\`, LINES: '1=2', SIZE: 'größer ✓' }
      const { stdout } = await see(harness.runner, { argv: ['env'], env: given })
      const seen = Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      expect(seen['SCANFARM_MARKER']).toMatch(/^conformance-/)
      for (const name of ['SCANFARM_MARKER', ...harness.subject.ambient])
        if (!(name in given)) delete seen[name]
      expect(seen).toEqual(given)
    })

    test('a command without a folder starts in the folder of the workspace, if there is one', async () => {
      const workspace = join(harness.folder, 'workspace')
      await mkdir(workspace)
      await using runner = await harness.open(workspace)
      expect((await see(runner, sh('pwd'))).stdout).toBe(`${workspace}\n`)
      expect((await see(harness.runner, sh('pwd'))).stdout).toBe(`${harness.folder}\n`)
    })

    test('a value of several lines arrives unchanged', async () => {
      const command = { ...sh('printf %s "$TEXT"'), env: { PATH, TEXT: 'one\ntwo\n' } }
      expect((await see(harness.runner, command)).stdout).toBe('one\ntwo\n')
    })

    test('arguments reach the program unchanged by any shell', async () => {
      const words = [
        '$HOME',
        '*',
        'a b',
        "it's",
        '"',
        '\\',
        '',
        'größer ✓ 日本',
        '-n',
        '$(id)',
        '`id`',
        ';',
        'two\nlines',
      ]
      const { stdout } = await see(harness.runner, { argv: ['printf', '%s|', ...words], env: { PATH } })
      expect(stdout).toBe(words.map((word) => `${word}|`).join(''))
    })

    test("a command starts in the run's folder unless it sets another one", async () => {
      expect((await see(harness.runner, sh('pwd'))).stdout).toBe(`${harness.folder}\n`)
      expect((await see(harness.runner, { ...sh('pwd'), cwd: '/' })).stdout).toBe('/\n')
    })

    test('the pid is reported as soon as the command runs', async () => {
      if (harness.subject.hidesPids !== true) {
        const { pid, stdout } = await see(harness.runner, sh('echo $$'))
        return expect(`${pid}\n`).toBe(stdout)
      }
      let pid = 0
      const stop = new AbortController()
      const run = harness.runner.run(sh('sleep 600'), {
        signal: stop.signal,
        onStart: (started) => (pid = started),
      })
      await until(() => pid !== 0)
      // The process may not execute the program of the sandbox yet.
      await until(() =>
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes('SCANFARM_MARKER=conformance-'),
      )
      stop.abort()
      await run
    })

    test("files of the run's folder are pushed and pulled", async () => {
      await mkdir(join(harness.folder, 'deep'), { recursive: true })
      await writeFile(join(harness.folder, 'deep', 'in put.txt'), 'hello')
      await harness.runner.push(join(harness.folder, 'deep'), NEVER)
      expect(
        (await see(harness.runner, sh('cat "deep/in put.txt" && tr a-z A-Z <"deep/in put.txt" >out')))
          .outcome,
      ).toEqual({ kind: 'exited', code: 0 })
      await harness.runner.pull(join(harness.folder, 'out'), NEVER)
      expect(await readFile(join(harness.folder, 'out'), 'utf8')).toBe('HELLO')
    })
  })
}
