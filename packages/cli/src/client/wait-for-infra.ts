import { setTimeout as sleep } from 'node:timers/promises'
import type { CloudInfra, InfraStatus } from '@scanfarm/contracts'
import type { Terminal } from '../terminal.ts'
import type { Api } from './api.ts'
import { showLine } from './live-line.ts'
import { machinesLine } from './machines-line.ts'
import { patiently } from './patiently.ts'

const LOOK_MS = 1_000

export const infraPath = (id: string): string => `/cloud/instances/${encodeURIComponent(id)}`

/** Waits until an infrastructure has come to one of these; shows meanwhile how its machines are. */
export const waitForInfra = async (
  terminal: Terminal,
  api: Api,
  id: string,
  ends: readonly InfraStatus[],
): Promise<CloudInfra> => {
  const line = showLine(terminal)
  try {
    for (;;) {
      const { data } = await patiently(() => api.get<{ data: CloudInfra }>(infraPath(id)))
      line.update(machinesLine(data))
      if (ends.includes(data.status)) return data
      await sleep(LOOK_MS)
    }
  } finally {
    line.end()
  }
}
