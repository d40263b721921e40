import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

describe('a command that the shell cannot start', () => {
  test('a missing command fails with its name', async () => {
    const { recorder } = await run(
      'kind: module\nname: m\nsteps: [{name: a, type: bash, command: no-such-tool -x}]',
    )
    expect(recorder.byName('a')).toMatchObject({
      exitCode: 127,
      errorMessage: 'command exited with code 127: command not found: no-such-tool',
    })
  })

  test('a file that is not executable fails with its path', async () => {
    const tools = join(folder(), 'tools')
    mkdirSync(tools, { recursive: true })
    writeFileSync(join(tools, 'tool'), '#!/bin/sh\n')
    chmodSync(join(tools, 'tool'), 0o644)
    const { recorder } = await run(
      `kind: module\nname: m\nsteps: [{name: a, type: bash, command: ${join(tools, 'tool')}}]`,
    )
    expect(recorder.byName('a')).toMatchObject({
      exitCode: 126,
      errorMessage: `command exited with code 126: permission denied: ${join(tools, 'tool')}`,
    })
  })

  test('a command fails with the exit code only when the shell prints no reason', async () => {
    const { recorder } = await run('kind: module\nname: m\nsteps: [{name: a, type: bash, command: exit 127}]')
    expect(recorder.byName('a').errorMessage).toBe('command exited with code 127')
  })
})

describe('a command that fails', () => {
  const failing = async (command: string, more = {}) => {
    const step = JSON.stringify({ name: 'a', type: 'bash', command })
    const { recorder } = await run(`kind: module\nname: m\nsteps: [${step}]`, more)
    return recorder.byName('a').errorMessage
  }

  test('a command fails with the last line of its standard error, without colours', async () => {
    const command = 'echo first >&2; printf "\\033[31mno templates\\033[0m\\n\\n" >&2; echo out; exit 3'
    expect(await failing(command)).toBe('command exited with code 3: no templates')
  })

  test('a command fails with the last line that names an error, where others follow', async () => {
    const command =
      'printf "Starting\\nERROR: old\\nERROR: no such host\\nVersion: 2.0.7\\nQUITTING!\\n" >&2; exit 3'
    expect(await failing(command)).toBe('command exited with code 3: ERROR: no such host')
    const lines = 'echo "error: early" >&2; seq 20 >&2; exit 3'
    expect(await failing(lines)).toBe('command exited with code 3: 20')
  })

  test('a command fails with the exit code only when standard error is empty', async () => {
    expect(await failing('echo out; exit 3')).toBe('command exited with code 3')
  })

  test('a command whose last line is very long fails with its exit code', async () => {
    const word = "head -c 200000 /dev/zero | tr '\\0' a >&2"
    expect(await failing(`${word}; exit 127`)).toMatch(/^command exited with code 127: a{199}…$/)
    const named = await failing(`${word}; echo ': not found' >&2; exit 127`)
    expect(named).toMatch(/^command exited with code 127: command not found: a{180}…$/)
  })

  test('secrets with tabs or line breaks are masked in the reason', async () => {
    const secrets = ['key\tof the vault', 'first\nlast']
    expect(await failing('printf "no key\\tof the vault\\n" >&2; exit 3', { secrets })).toBe(
      'command exited with code 3: no ***',
    )
    expect(await failing('printf "no first\\nlast\\n" >&2; exit 3', { secrets })).toBe(
      'command exited with code 3: no ***',
    )
  })

  test('the reason is truncated, but never inside a secret', async () => {
    const secret = 'hidden-word-of-the-operator'
    const command = `printf '%0190d${secret}%0100d\\n' 0 0 >&2; exit 3`
    const message = (await failing(command, { secrets: [secret] })) ?? ''
    expect(message.length).toBeLessThan(240)
    expect(message).toMatch(/0\*\*\*0+…$/)
  })
})
