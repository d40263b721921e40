import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Harness } from '../harness.ts'
import { saturate, type Load } from '../load.ts'

/** Responses of a plain `node:http` server under the same load, with a body of that many bytes. */
export const bareHttpLoad = (harness: Harness, bodyBytes: number): Promise<Load> =>
  harness.once(`limit: bare node:http answering ${bodyBytes} bytes`, () =>
    bareLoad(harness, ['bytes', String(bodyBytes)]),
  )

/** The same with the rows of one prepared statement: no token, no check, no total. */
export const barePgLoad = (harness: Harness, databaseUrl: string, statement: string): Promise<Load> =>
  harness.once(`limit: bare node:http and pg: ${statement}`, () =>
    bareLoad(harness, ['rows', databaseUrl, statement]),
  )

async function bareLoad(harness: Harness, args: readonly string[]): Promise<Load> {
  const program = join(import.meta.dirname, 'bare-server.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    return await saturate(harness, { url: `http://127.0.0.1:${Number(String(port))}/` })
  } finally {
    child.kill('SIGKILL')
  }
}
