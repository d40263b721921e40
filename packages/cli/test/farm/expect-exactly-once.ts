import { expect } from '@jest/globals'
import { audit, type Expected } from './audit.ts'
import type { Client } from './client.ts'
import type { RunRow } from './jobs.ts'

/** The audit of a finished job finds nothing wrong; returns its runs. */
export async function expectExactlyOnce(
  client: Client,
  jobId: string,
  expected: Expected,
): Promise<readonly RunRow[]> {
  const { runs, problems } = await audit(client, jobId, expected)
  expect(problems).toEqual([])
  return runs
}
