import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const HOME = join(import.meta.dirname, '../../../.cache/s3-peer')
const PACKAGE = 'moto[s3,server]==5.2.5'
/** Enough for the slowest network. */
export const INSTALL_MS = 900_000

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string
}

/** A server written by others that speaks S3, in its own process; installed into `.cache` when it is not there. */
export async function startS3Server(): Promise<S3Server> {
  await install()
  // It takes a port that is free, and tells which when it listens.
  const child = spawn(join(HOME, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const told: string[] = []
  for await (const line of createInterface(child.stderr)) {
    told.push(line)
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
  throw new Error(`the S3 peer ended before it listened: ${told.join('; ')}`)
}

/** Programs of an environment carry its path: so it is made in its place, and marked complete by its last file. */
const INSTALL = `
test -e "$1/complete" && exit
rm -rf "$1"
python3 -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check --retries 10 --timeout 60 "$2"
touch "$1/complete"
`

const install = async (): Promise<void> => {
  if (existsSync(join(HOME, 'complete'))) return
  await mkdir(dirname(HOME), { recursive: true })
  try {
    // Test runs wait for each other here; a lock goes with the one that holds it, however that ends.
    await run('flock', [`${HOME}.lock`, 'sh', '-ec', INSTALL, 'sh', HOME, PACKAGE])
  } catch (error) {
    throw new Error(
      `the S3 tests need ${PACKAGE}, and it could not be installed with python3 -m venv and pip: is python3-venv installed, is PyPI reachable?`,
      { cause: error },
    )
  }
}
