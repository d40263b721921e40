import type { Harness } from '../harness.ts'
import { saturate, type Load } from '../load.ts'
import { BareProgram } from './bare-program.ts'

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
  using server = await BareProgram.start('bare-server.ts', ...args)
  return await saturate(harness, { url: `http://127.0.0.1:${Number(server.said)}/` })
}
