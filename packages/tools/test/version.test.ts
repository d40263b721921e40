import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { isAtLeast, readManifest, versionIn, versionOf, type Tool } from '../src/index.ts'

const tools = readManifest()
const toolOf = (name: string): Tool => {
  const tool = tools.get(name)
  if (tool === undefined) throw new Error(`${name} is not in the manifest`)
  return tool
}

const script = async (text: string): Promise<string> => {
  const file = join(await mkdtemp(join(tmpdir(), 'scanfarm-version-test-')), 'program')
  await writeFile(file, `#!/bin/bash\n${text}\n`)
  await chmod(file, 0o755)
  return file
}

test.each([process.env['SCANFARM_TEST_NMAP'] ?? 'nmap', '/bin/bash'])(
  '%s is asked for its version',
  async (path) => {
    const tool = toolOf(path.replace(/.*\//, ''))
    const version = await versionOf(tool, path)
    expect(version).toMatch(/^\d+\.\d+/)
    expect(isAtLeast(version ?? '', tool.version)).toBe(true)
  },
)

test.each([
  ['bash', 'GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)', '5.2.15'],
  ['curl', 'curl 8.14.1 (x86_64-pc-linux-gnu) libcurl/8.14.1 OpenSSL/3.5.1', '8.14.1'],
  ['dig', 'DiG 9.18.49-1~deb12u3-Debian', '9.18.49'],
  ['ffuf', 'ffuf version: 2.1.0-dev', '2.1.0'],
  ['gobuster', '3.5\n', '3.5'],
  ['httpx', '[\u001B[34mINF\u001B[0m] Current Version: v1.12.0', '1.12.0'],
  ['httpx', 'The httpx command line client, version 0.27', undefined],
  ['masscan', '\nMasscan version 1.3.2 ( https://github.com/robertdavidgraham/masscan )', '1.3.2'],
  ['nuclei', '[INF] Nuclei Engine Version: v3.11.1\n[INF] Nuclei Config Directory: /x', '3.11.1'],
  ['openssl', 'OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)', '3.0.19'],
  ['sslscan', '\u001B[1;34m\t\t2.0.7\n\t\tOpenSSL 3.0.19 27 Jan 2026\n\u001B[0m', '2.0.7'],
  ['testssl', '#!/usr/bin/env bash\n#\ndeclare -r VERSION="3.0.8"\n', '3.0.8'],
  ['wapiti', 'Wapiti-3.0.4 (wapiti.sourceforge.io)', '3.0.4'],
  ['wapiti', 'Wapiti 3.2.4 (wapiti-scanner.github.io)', '3.2.4'],
  ['whatweb', 'WhatWeb version 0.5.5 ( https://www.morningstarsecurity.com/research/whatweb/ )', '0.5.5'],
  ['whois', 'Version 5.5.17.\n\nReport bugs to <md+whois@linux.it>.', '5.5.17'],
])('the version of %s is found in %j', (name, output, version) => {
  expect(versionIn(toolOf(name), output)).toBe(version)
})

test('a program that does not end is killed with its children when the time is up', async () => {
  const hanging = await script('echo $$ > "$0.pid"; sleep 1000 & echo $! >> "$0.pid"; wait')
  await expect(versionOf(toolOf('nmap'), hanging, 3_000)).resolves.toBeUndefined()
  const pids = (await readFile(`${hanging}.pid`, 'utf8')).trim().split('\n').map(Number)
  expect(pids).toHaveLength(2)
  const alive = async (pid: number): Promise<boolean> =>
    !(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')).includes(') Z')
  await until(async () => !(await Promise.all(pids.map(alive))).includes(true))
})

test('endless output is cut, and the program is killed', async () => {
  const endless = await script('echo Nmap version 7.9; exec yes')
  await expect(versionOf(toolOf('nmap'), endless)).resolves.toBe('7.9')
})

test('a program has an empty home, no input, and none of the variables of this program', async () => {
  process.env.SCANFARM_AUTH_TEST = 'secret'
  const honest = await script(
    '[ -z "$SCANFARM_AUTH_TEST" ] && [ -z "$(ls -A "$HOME")" ] && [ "$PWD" = "$HOME" ] && ! read -r && echo "Nmap version 1.$#"',
  )
  await expect(versionOf(toolOf('nmap'), honest)).resolves.toBe('1.1')
  delete process.env.SCANFARM_AUTH_TEST
})

test('a missing program has no version', async () => {
  await expect(versionOf(toolOf('nmap'), '/nonexistent/nmap')).resolves.toBeUndefined()
})

test.each([
  ['7.93', '7.93', true],
  ['7.94', '7.93', true],
  ['7.9', '7.93', false],
  ['3.0.19', '3.0', true],
  ['3.0', '3.0.1', false],
  ['10.0', '9.18', true],
  ['1.10.0', '1.9.9', true],
])('%s compared with %s: %s', (version, wanted, result) => {
  expect(isAtLeast(version, wanted)).toBe(result)
})
