import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)

const VERSION = '4.32.5'
const MIN_PYTHON = '3.11'
const REQUIRED = `python3 ${MIN_PYTHON} or newer with venv and pip (on Debian: apt-get install python3-venv)`

/** Installs `schemathesis` into a virtual environment below `cache` on the first call. Returns the path of the program. */
export async function installSchemathesis(cache: string): Promise<string> {
  const folder = join(cache, `schemathesis-${VERSION}`)
  const program = join(folder, 'bin/schemathesis')
  if (existsSync(join(folder, 'complete'))) return program
  console.error(`installing schemathesis ${VERSION} into ${folder}`)
  try {
    await exec('python3', [
      '-c',
      `import sys; sys.exit(sys.version_info < (${MIN_PYTHON.replace('.', ', ')}))`,
    ])
    await exec('python3', ['-m', 'venv', '--clear', folder])
  } catch (error) {
    throw new Error(`schemathesis requires ${REQUIRED}: ${String(error)}`, { cause: error })
  }
  await exec(join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`])
  await exec('touch', [join(folder, 'complete')])
  return program
}
