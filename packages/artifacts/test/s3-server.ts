import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const HOME = join(import.meta.dirname, '../../../.cache/s3-peer')
const PACKAGE = 'moto[s3,server]==5.2.5'
const START_DEADLINE_MS = 60_000

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string
}

/** A server written by others that speaks S3, in its own process; installed into `.cache` when it is not there. */
export async function startS3Server(): Promise<S3Server> {
  await install()
  const port = await freePort()
  const child = spawn(join(HOME, 'bin/moto_server'), ['-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const endpoint = `http://127.0.0.1:${port}`
  await answering(endpoint, ended)
  return {
    endpoint,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const install = async (): Promise<void> => {
  if (existsSync(join(HOME, 'bin/moto_server'))) return
  // Programs of an environment carry its path: so it is made in its place and marked complete by its last file.
  const lock = `${HOME}.lock`
  await mkdir(dirname(HOME), { recursive: true })
  try {
    await mkdir(lock)
  } catch {
    throw new Error(`another test run installs the S3 peer; if none does, remove ${lock}`)
  }
  try {
    await rm(HOME, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', HOME])
    await run(join(HOME, 'bin/pip'), ['install', '--quiet', PACKAGE])
  } catch (error) {
    await rename(HOME, `${HOME}.failed.${process.pid}`).catch(() => undefined)
    await rm(`${HOME}.failed.${process.pid}`, { recursive: true, force: true })
    throw new Error(
      `the S3 tests need ${PACKAGE}, and it could not be installed with python3 -m venv and pip: is python3-venv installed, is PyPI reachable?`,
      { cause: error },
    )
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

const answering = async (endpoint: string, ended: Promise<unknown>): Promise<void> => {
  const deadline = Date.now() + START_DEADLINE_MS
  let dead = false
  void ended.then(() => (dead = true))
  while (Date.now() < deadline && !dead) {
    const answered = await fetch(endpoint).then(
      (answer) => answer.ok,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the S3 peer at ${endpoint} does not answer`)
}
