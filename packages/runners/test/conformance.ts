import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from '@jest/globals'
import type { Runner } from '@scanfarm/contracts'
import { NEVER, type Harness, type RunnerSubject } from './conformance/harness.ts'
import { passesInput } from './conformance/input.ts'
import { leavesNoProcesses } from './conformance/orphans.ts'
import { reportsFailedStarts } from './conformance/not-started.ts'
import { stopsCommands } from './conformance/stop.ts'
import { reportsResults } from './conformance/results.ts'

export type { RunnerSubject } from './conformance/harness.ts'

export const PARTS = { reportsResults, passesInput, reportsFailedStarts, stopsCommands, leavesNoProcesses }

/** The guarantees of every runner: host, docker and ssh. `parts`: for variants of a runner that passes the rest. */
export function runnerConformance(
  name: string,
  make: () => Promise<RunnerSubject>,
  parts: readonly ((harness: Harness) => void)[] = Object.values(PARTS),
): void {
  describe(`${name} runner`, () => {
    let subject: RunnerSubject
    let folder: string
    let runner: Runner
    let opened = 0

    const open = (workspace?: string): Promise<Runner> =>
      subject.provider.open(subject.spec, {
        runUuid: crypto.randomUUID(),
        attempt: 1,
        folder,
        ...(workspace !== undefined && { workspace }),
        marker: `conformance-${process.pid}-${++opened}`,
        signal: NEVER,
        log: () => {},
      })

    beforeAll(async () => {
      subject = await make()
      folder = await mkdtemp(join(subject.root, 'rün '))
      runner = await open()
    })
    afterAll(async () => {
      await runner?.[Symbol.asyncDispose]()
      await subject?.[Symbol.asyncDispose]()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })

    const harness: Harness = {
      get subject() {
        return subject
      },
      get runner() {
        return runner
      },
      get folder() {
        return folder
      },
      open,
    }
    for (const part of parts) part(harness)
  })
}
