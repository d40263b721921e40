import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The Python environment of moto, which all test files share. */
export const MOTO_HOME = join(import.meta.dirname, '../../../.cache/moto')
/** The `server` extra of moto is for all services; S3, EC2 and IAM only need these two packages of it. */
const PACKAGES = ['moto[ec2,s3]==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5']
/** Enough for a slow network. */
export const MOTO_INSTALL_MS = 900_000

/**
 * A Python environment contains its own path, so it is created in its place; the last file marks it as complete. Most
 * modules are never loaded, so none are compiled in advance.
 */
const INSTALL = `
home="$1"
shift
test -e "$home/complete" && exit
rm -rf "$home"
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check --no-compile --retries 10 --timeout 60 "$@"
touch "$home/complete"
`

const install = async (): Promise<void> => {
  await mkdir(dirname(MOTO_HOME), { recursive: true })
  try {
    // Other test processes wait here; the lock ends with the process that holds it.
    await run('flock', [`${MOTO_HOME}.lock`, 'sh', '-ec', INSTALL, 'sh', MOTO_HOME, ...PACKAGES])
  } catch (error) {
    throw new Error(
      `these tests need ${PACKAGES.join(', ')}, and python3 -m venv and pip could not install them: is python3-venv installed, is PyPI reachable?`,
      { cause: error },
    )
  }
}

export interface MotoServer extends AsyncDisposable {
  readonly endpoint: string
}

/** A process of moto, an independent implementation of AWS services; the first call installs it into `.cache`. */
export const startMoto = async (env: Readonly<Record<string, string>> = {}): Promise<MotoServer> => {
  await install()
  const child = spawn(join(MOTO_HOME, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = once(child, 'exit')
  const output: string[] = []
  // It takes a free port and prints it.
  for await (const line of createInterface(child.stderr)) {
    output.push(line)
    const endpoint = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (endpoint === undefined) continue
    child.stderr.resume()
    return {
      endpoint,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }
  throw new Error(`moto ended before it accepted connections: ${output.join('; ')}`)
}
