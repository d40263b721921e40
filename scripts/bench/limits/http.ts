import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { saturate, type Load } from '../load.ts'

/** Responses of a plain `node:http` server under the same load, with a body of that many bytes. */
export const bareHttpLoad = (bench: Bench, bodyBytes: number): Promise<Load> =>
  bench.once(`limit: bare node:http answering ${bodyBytes} bytes`, () =>
    bareLoad(bench, ['bytes', String(bodyBytes)]),
  )

/** The same with the rows of one prepared statement: no token, no check, no total. */
export const barePgLoad = (bench: Bench, databaseUrl: string, statement: string): Promise<Load> =>
  bench.once(`limit: bare node:http and pg: ${statement}`, () =>
    bareLoad(bench, ['rows', databaseUrl, statement]),
  )

async function bareLoad(bench: Bench, args: readonly string[]): Promise<Load> {
  const program = join(import.meta.dirname, 'bare-server.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    return await saturate(bench, { url: `http://127.0.0.1:${Number(String(port))}/` })
  } finally {
    child.kill('SIGKILL')
  }
}
