import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const FIXTURE = fileURLToPath(new URL('fixtures/service-user.ts', import.meta.url))

export interface ServiceUser {
  readonly child: ChildProcess
  readonly databaseUrl: string
  readonly queue: { kind: string; url: string }
}

/** Starts another program on the data folder and waits until it has its services. */
export const startUser = async (dataDir: string): Promise<ServiceUser> => {
  const child = spawn(process.execPath, [FIXTURE, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [unknown]
  if (typeof line !== 'string') throw new Error(`the program ended with ${line} before it had its services`)
  return { child, ...(JSON.parse(line) as Omit<ServiceUser, 'child'>) }
}

/** Sends the signal, waits for the end and returns the exit code, or `null` if the signal killed the program. */
export const stopUser = async ({ child }: ServiceUser, signal: NodeJS.Signals): Promise<number | null> => {
  const ended = once(child, 'exit')
  child.kill(signal)
  const [code] = (await ended) as [number | null]
  return code
}
