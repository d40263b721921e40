import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { unusablePrograms } from '../../src/runner/programs.ts'
import { useRuns } from '../harness/runs.ts'
import { hostRunner } from '../harness/host-runner.ts'

const NOBODY = { uid: 65534, gid: 65534 }
const { run } = useRuns()
const { signal } = new AbortController()

let folder = ''
const program = (name: string, text: string, mode = 0o755): string => {
  const file = join(folder, name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${text}\n`)
  chmodSync(file, mode)
  return file
}
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-programs-'))
  chmodSync(folder, 0o755)
  program('open/tool', 'true')
  program('open/private', 'true', 0o700)
  program('open/data', 'true', 0o644)
  program('closed/hidden', 'true')
  chmodSync(join(folder, 'closed'), 0o700)
  program('python/httpx', 'echo "Usage: httpx [OPTIONS] URL"; echo "Error: No such option: -e" >&2; exit 2')
  program('go/httpx', 'echo "[INF] Current Version: v1.6.10" >&2')
})
afterAll(() => rmSync(folder, { recursive: true }))

const unusable = async (names: readonly string[], folders: readonly string[], user = NOBODY) => {
  const PATH = folders.map((name) => join(folder, name)).join(':')
  return Object.fromEntries(await unusablePrograms(hostRunner(user), names, { env: { PATH }, signal }))
}

describe('programs that commands can use', () => {
  test('a program is usable if the user of commands may start it and access its folders', async () => {
    const names = ['tool', 'private', 'data', 'hidden', 'none', join(folder, 'open/tool'), 'echo']
    expect(await unusable(names, ['open', 'closed'])).toEqual({
      private: `${folder}/open/private is not executable for the user that commands run as`,
      data: `${folder}/open/data is not executable for the user that commands run as`,
      hidden: '',
      none: '',
    })
  })

  test('a program that does not print its version within 10 seconds is not usable', async () => {
    program('slow/httpx', 'exec /bin/sleep 600')
    expect(await unusable(['httpx'], ['slow'])).toEqual({ httpx: 'httpx -version did not end: timed-out' })
  })

  test('an unrelated program of the same name is not usable, and the dependency check reports it', async () => {
    expect(await unusable(['httpx'], ['go', 'python'])).toEqual({})
    const why = /^it is not ProjectDiscovery's scanner \(Python's HTTP client has a command of that name\)/
    expect(await unusable(['httpx'], ['python', 'go'])).toEqual({ httpx: expect.stringMatching(why) })
    const { status, errorMessage } = await run(
      'kind: module\nname: m\ndependencies: {commands: [httpx]}\nsteps: [{name: a, type: bash, command: x}]\n',
      { env: { PATH: `${join(folder, 'python')}:/usr/bin:/bin` } },
    )
    expect(status).toBe('failed')
    expect(errorMessage).toContain('required command not found: httpx: it is not ProjectDiscovery')
    expect(errorMessage).toContain('answers "Usage: httpx [OPTIONS] URL"')
  })

  test('consecutive runs of one machine share a check of programs, and each run of another machine has its own', async () => {
    program('once/tool', 'true')
    const needs = (name: string): string =>
      `kind: module\nname: m\ndependencies: {commands: [${name}]}\nsteps: [{name: a, type: bash, command: 'true'}]\n`
    const env = { PATH: `${join(folder, 'once')}:/usr/bin:/bin` }
    let uid = 60_000
    const commandsOf = async (name: string, sharesFiles: boolean): Promise<number> => {
      let count = 0
      // Each workspace has a user of its own.
      uid += 1
      const runner = hostRunner()
      const openRunner = async () => ({
        ...runner,
        sharesFiles,
        run: async (...args: Parameters<typeof runner.run>) => {
          count += 1
          return await runner.run(...args)
        },
      })
      await run(needs(name), { env, openRunner, owner: { uid, gid: uid } })
      return count
    }
    expect([await commandsOf('tool', true), await commandsOf('tool', true)]).toEqual([2, 1])
    expect([await commandsOf('tool', false), await commandsOf('tool', false)]).toEqual([2, 2])
    // What is missing may come at any moment.
    expect([await commandsOf('later', true), await commandsOf('later', true)]).toEqual([1, 1])
    program('once/later', 'true')
    expect(await commandsOf('later', true)).toBe(2)
  })

  test('programs are checked in each container, even if the run sets PATH', async () => {
    let lookups = 0
    const openRunner: NonNullable<Parameters<typeof run>[1]>['openRunner'] = async ({ type }) => {
      const runner = hostRunner()
      return {
        ...runner,
        type,
        run: async (...args: Parameters<typeof runner.run>) => {
          if (type === 'docker') lookups += 1
          return await runner.run(...args)
        },
      }
    }
    const files = {
      'main.yaml': `kind: flow
name: main
modules:
  - {name: path, steps: [{name: set, type: function, function: 'os_setenv("PATH", "/usr/bin:/bin")'}]}
  - {name: first, path: first, depends_on: [path]}
  - {name: second, path: second, depends_on: [first]}
`,
      ...Object.fromEntries(
        ['first', 'second'].map((name) => [
          `${name}.yaml`,
          `kind: module\nname: ${name}\nrunner: docker\nrunner_config: {image: "${name}:1"}\ndependencies: {commands: [cat]}\nsteps: [{name: s, type: function, function: '1'}]\n`,
        ]),
      ),
    }
    expect(await run(files, { openRunner })).toMatchObject({ status: 'completed' })
    expect(lookups).toBe(2)
  })
})
