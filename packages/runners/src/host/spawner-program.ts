import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'

/** One of the programs that can be the small process. */
export interface SpawnerProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const PERL = '/usr/bin/perl'
/** Fewer threads and a small young heap: less memory to copy for each command. */
const NODE_FLAGS = ['--single-threaded', '--max-semi-space-size=1', '--disable-warning=ExperimentalWarning']

const nodeProgram = (): SpawnerProgram => {
  const cache = getCompileCacheDir()
  return {
    command: process.execPath,
    args: [...NODE_FLAGS, fileURLToPath(new URL('./spawner.ts', import.meta.url))],
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
  }
}

const perlProgram = (): SpawnerProgram => ({
  command: PERL,
  args: [fileURLToPath(new URL('./spawner.pl', import.meta.url))],
  env: {},
})

/** Best first; the next one is for a system where the one before does not start. */
export function spawnerPrograms(choice: 'perl' | 'node' | undefined): SpawnerProgram[] {
  const perl = choice !== 'node' && existsSync(PERL) ? [perlProgram()] : []
  return choice === 'perl' ? perl : [...perl, nodeProgram()]
}
