import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ToolError } from '@scanfarm/tools'
import { searchPath } from '@scanfarm/platform'
import type { Terminal } from '../terminal.ts'

const INSTALL = ['install', '-y', '--no-install-recommends']

const aptGet = async ({ err, env }: Terminal, args: readonly string[]): Promise<number | null> => {
  const child = spawn('apt-get', args, {
    env: { ...env, PATH: searchPath(), DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.pipe(err, { end: false })
  child.stderr.pipe(err, { end: false })
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

/** Installs packages by apt-get, as root. The lists of packages are only updated if it fails with the present ones. */
export const installDebian = async (terminal: Terminal, packages: readonly string[]): Promise<void> => {
  const list = packages.join(' ')
  const advice = `install the Debian packages as root: apt-get install --no-install-recommends ${list}`
  if (process.getuid?.() !== 0) throw new ToolError(advice)
  try {
    if ((await aptGet(terminal, [...INSTALL, ...packages])) === 0) return
    await aptGet(terminal, ['update'])
    if ((await aptGet(terminal, [...INSTALL, ...packages])) === 0) return
  } catch (error) {
    if (!Error.isError(error) || !('code' in error) || error.code !== 'ENOENT') throw error
    throw new ToolError(
      `this machine has no apt-get: install the programs of the Debian packages ${list} by its own package manager, or use the image of the worker`,
    )
  }
  throw new ToolError(`apt-get could not install ${list}: see its output above`)
}
