import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Fault, Sort } from '../conformance.ts'

/** A proxy in front of a docker engine that injects faults. */
export interface EngineProxy extends AsyncDisposable {
  /** `unix://…` */
  readonly address: string
  fault(sort: Sort, fault: Fault): void
  creates(): number
}

const TOLD: Partial<Record<Fault['kind'], { readonly status: number; readonly message: string }>> = {
  broken: { status: 500, message: 'the engine is broken' },
  denied: { status: 403, message: 'authorization denied by plugin' },
}

const sortOf = ({ method, url = '' }: IncomingMessage): Sort | undefined => {
  if (method === 'GET') return 'read'
  if (method === 'DELETE') return 'destroy'
  return url.startsWith('/containers/create') ? 'create' : undefined
}

export async function openEngineProxy(engine: string): Promise<EngineProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-engine-road-'))
  const path = join(folder, 'docker.sock')
  const faults: Record<Sort, Fault[]> = { read: [], create: [], destroy: [] }
  let creates = 0
  const server = createServer((asked, answer) => {
    const sort = sortOf(asked)
    if (sort === 'create') creates++
    const fault = sort && faults[sort].shift()
    const told = fault && TOLD[fault.kind]
    if (told === undefined) return void pass(engine, asked, answer, fault).catch(() => asked.socket.destroy())
    answer.writeHead(told.status, { 'content-type': 'application/json' })
    answer.end(JSON.stringify({ message: told.message }))
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    address: `unix://${path}`,
    fault: (sort, fault) => void faults[sort].push(fault),
    creates: () => creates,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Requests always reach the engine; a fault only affects the response. */
async function pass(
  engine: string,
  asked: IncomingMessage,
  answer: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const { method, url, headers } = asked
  const socketPath = engine.slice('unix://'.length)
  const onward = request({ socketPath, method, path: url, headers: { ...headers, connection: 'close' } })
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    onward.once('response', resolve).once('error', reject),
  )
  await pipeline(asked, onward)
  const said = await answered
  if (fault !== undefined) said.resume()
  if (fault?.kind === 'cut') asked.socket.destroy()
  if (fault !== undefined) return
  answer.writeHead(said.statusCode ?? 502, said.headers)
  await pipeline(said, answer)
}
