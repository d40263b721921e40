import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Fault, Sort } from './conformance.ts'

/** EC2 may return fewer items than requested. */
const LARGEST_PAGE = 10

export interface FaultyEc2 extends AsyncDisposable {
  readonly endpoint: string
  fault(sort: Sort, fault: Fault): void
  creates(): number
  violations(): readonly string[]
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export const WORDS = {
  quota:
    'You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to.',
  capacity:
    'We currently do not have sufficient t3.micro capacity in the Availability Zone you requested (us-east-1a).',
}

/** In front of an EC2: checks requests, plays faults, remembers client tokens, and keeps pages small. */
export async function startFaultyEc2(
  behind: string,
  check: (form: URLSearchParams) => string[],
): Promise<FaultyEc2> {
  const faults: { readonly sort: Sort; readonly fault: Fault }[] = []
  const violations: string[] = []
  const tokens = new Map<string, { readonly form: string; readonly answer: Answer }>()
  let creates = 0

  const forward = async (request: IncomingMessage, form: URLSearchParams): Promise<Answer> => {
    const { host: _host, 'content-length': _length, ...headers } = request.headers
    const size = form.get('MaxResults')
    if (size !== null) form.set('MaxResults', String(Math.min(Number(size), LARGEST_PAGE)))
    const answer = await fetch(behind, {
      method: 'POST',
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      body: form.toString(),
    })
    return { status: answer.status, body: await answer.text() }
  }

  const made = async (request: IncomingMessage, form: URLSearchParams): Promise<Answer> => {
    const token = form.get('ClientToken') ?? ''
    const before = tokens.get(token)
    if (before && before.form === form.toString()) return before.answer
    if (before)
      return refusal(
        400,
        'IdempotentParameterMismatch',
        'Arguments on this idempotent request are inconsistent',
      )
    const said = form.toString()
    const answer = await forward(request, form)
    if (token && answer.status === 200) tokens.set(token, { form: said, answer })
    return answer
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = new URLSearchParams(await bodyOf(request))
    violations.push(...check(form))
    const sort = sortOf(form)
    if (sort === 'create') creates += 1
    const work = () => (sort === 'create' ? made(request, form) : forward(request, form))
    const at = faults.findIndex((waiting) => waiting.sort === sort)
    const [met] = at < 0 ? [] : faults.splice(at, 1)
    const answer = met ? await played(met.fault, work) : await work()
    if (answer === 'silence') return
    if (answer === 'cut') return void response.destroy()
    response.writeHead(answer.status, { 'content-type': 'text/xml', ...answer.headers }).end(answer.body)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      violations.push(`the stand-in broke: ${String(error)}`)
      response.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    fault: (sort, fault) => void faults.push({ sort, fault }),
    creates: () => creates,
    violations: () => violations,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A dry run of RunInstances creates nothing and counts as a read. */
function sortOf(form: URLSearchParams): Sort {
  const action = form.get('Action')
  if (action === 'RunInstances' && form.get('DryRun') !== 'true') return 'create'
  return action === 'TerminateInstances' ? 'destroy' : 'read'
}

async function played(fault: Fault, work: () => Promise<Answer>): Promise<Answer | 'silence' | 'cut'> {
  switch (fault.kind) {
    case 'throttled':
      return {
        ...refusal(503, 'RequestLimitExceeded', 'Request limit exceeded.'),
        headers: { 'retry-after': String(fault.afterS) },
      }
    case 'broken':
      return refusal(500, 'InternalError', 'An internal error has occurred')
    case 'cut':
      await work()
      return 'cut'
    case 'silent':
      await work()
      return 'silence'
    case 'quota':
      return refusal(400, 'VcpuLimitExceeded', WORDS.quota)
    case 'capacity':
      return refusal(500, 'InsufficientInstanceCapacity', WORDS.capacity)
    case 'denied':
      return refusal(401, 'AuthFailure', 'AWS was not able to validate the provided access credentials')
  }
}

const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?><Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`,
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
