import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { NEVER, PATH, see, sh, type Bench } from './bench.ts'

/** What a program is given: words, variables, folder, files. */
export function whatItIsGiven(bench: Bench): void {
  describe('what a program is given', () => {
    test('stdin is at its end', async () => {
      expect(await see(bench.runner, sh('cat; echo end'))).toMatchObject({ stdout: 'end\n' })
    })

    test('the environment is the one given and nothing of this process', async () => {
      process.env['SCANFARM_CONFORMANCE_SECRET'] = 'secret'
      const given = {
        PATH,
        EMPTY: '',
        QUOTES: `a 'b' "c" $HOME \`d\` \\`,
        LINES: '1=2',
        GRÖSSE: 'größer ✓',
      }
      const { stdout } = await see(bench.runner, { argv: ['env'], env: given })
      const seen = Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      )
      expect(seen['SCANFARM_MARKER']).toMatch(/^conformance-/)
      for (const name of ['SCANFARM_MARKER', ...bench.subject.ambient])
        if (!(name in given)) delete seen[name]
      expect(seen).toEqual(given)
    })

    test('a command that names no folder begins in that of the workspace, where there is one', async () => {
      const workspace = join(bench.folder, 'workspace')
      await mkdir(workspace)
      await using runner = await bench.open(workspace)
      expect((await see(runner, sh('pwd'))).stdout).toBe(`${workspace}\n`)
      expect((await see(bench.runner, sh('pwd'))).stdout).toBe(`${bench.folder}\n`)
    })

    test('a value of several lines arrives whole', async () => {
      const command = { ...sh('printf %s "$TEXT"'), env: { PATH, TEXT: 'one\ntwo\n' } }
      expect((await see(bench.runner, command)).stdout).toBe('one\ntwo\n')
    })

    test('arguments reach the program untouched by any shell', async () => {
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
      const { stdout } = await see(bench.runner, { argv: ['printf', '%s|', ...words], env: { PATH } })
      expect(stdout).toBe(words.map((word) => `${word}|`).join(''))
    })

    test("it works in the run's folder unless another is named", async () => {
      expect((await see(bench.runner, sh('pwd'))).stdout).toBe(`${bench.folder}\n`)
      expect((await see(bench.runner, { ...sh('pwd'), cwd: '/' })).stdout).toBe('/\n')
    })

    test('its pid is told as soon as it runs', async () => {
      if (bench.subject.hidesPids !== true) {
        const { pid, stdout } = await see(bench.runner, sh('echo $$'))
        return expect(`${pid}\n`).toBe(stdout)
      }
      let found = ''
      const onStart = (pid: number): void => {
        found = readFileSync(`/proc/${pid}/environ`, 'latin1')
      }
      await bench.runner.run(sh('sleep 1'), { signal: NEVER, onStart })
      expect(found).toContain('SCANFARM_MARKER=conformance-')
    })

    test("files of the run's folder are brought there and back", async () => {
      await mkdir(join(bench.folder, 'deep'), { recursive: true })
      await writeFile(join(bench.folder, 'deep', 'in put.txt'), 'hello')
      await bench.runner.push(join(bench.folder, 'deep'), NEVER)
      expect(
        (await see(bench.runner, sh('cat "deep/in put.txt" && tr a-z A-Z <"deep/in put.txt" >out'))).outcome,
      ).toEqual({
        kind: 'exited',
        code: 0,
      })
      await bench.runner.pull(join(bench.folder, 'out'), NEVER)
      expect(await readFile(join(bench.folder, 'out'), 'utf8')).toBe('HELLO')
    })
  })
}
