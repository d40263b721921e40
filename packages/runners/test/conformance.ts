import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from '@jest/globals'
import type { Runner } from '@scanfarm/contracts'
import { NEVER, type Bench, type RunnerSubject } from './conformance/bench.ts'
import { whatItIsGiven } from './conformance/given.ts'
import { nothingIsLeft } from './conformance/left-behind.ts'
import { whatNeverRan } from './conformance/never-ran.ts'
import { stopMeansStop } from './conformance/stop.ts'
import { whatItTells } from './conformance/told.ts'

export type { RunnerSubject } from './conformance/bench.ts'

export const PARTS = { whatItTells, whatItIsGiven, whatNeverRan, stopMeansStop, nothingIsLeft }

/** What every runner promises, on host, docker and ssh alike. `parts`: where the rest is proved already. */
export function runnerConformance(
  name: string,
  make: () => Promise<RunnerSubject>,
  parts: readonly ((bench: Bench) => void)[] = Object.values(PARTS),
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

    const bench: Bench = {
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
    for (const part of parts) part(bench)
  })
}
