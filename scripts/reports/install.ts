import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrograms } from '../services/programs.ts'

export const SOURCES = ['pip', 'npm', 'go', 'debian'] as const
/** From which registry, and what. */
type Source = readonly [from: (typeof SOURCES)[number], what: string]

const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
  execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, ...env } })

/** Installs a tool unless that is done; returns the folder of its programs and its version. */
export const install = (
  name: string,
  [from, what]: Source,
  work: string,
): { bin: string; version: string } => {
  if (from === 'debian') {
    ensurePrograms([{ name, debianPackage: what }])
    // Debian adds its own numbers.
    const [, version = ''] =
      /^(?:\d+:)?([\d.]*\d)/.exec(run('dpkg-query', ['-W', '-f', '${Version}', what])) ?? []
    return { bin: '/usr/bin', version }
  }
  const [, version = ''] = /@v?([\d.]+)$|==([\d.]+)$/.exec(what)?.filter(Boolean) ?? []
  const folder = join(work, `${name}-${version}`)
  const bin = join(folder, from === 'npm' ? 'node_modules/.bin' : 'bin')
  if (existsSync(join(folder, 'installed'))) return { bin, version }
  mkdirSync(folder, { recursive: true })
  if (from === 'pip') {
    run('python3', ['-m', 'venv', folder])
    run(join(bin, 'pip'), ['install', '-q', what])
  } else if (from === 'npm') run('npm', ['install', '--prefix', folder, '--no-fund', '--no-audit', what])
  else run('go', ['install', what], { GOBIN: bin, CGO_ENABLED: '0' })
  mkdirSync(join(folder, 'installed'))
  return { bin, version }
}
