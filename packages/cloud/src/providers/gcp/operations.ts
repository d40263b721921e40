import { setTimeout as wait } from 'node:timers/promises'
import type { protos } from '@google-cloud/compute'
import { repeatSafe, type CallLimits } from '../calls.ts'
import type { Compute } from './compute.ts'
import { problemOf, problemOfCode, Refusal } from './problems.ts'

type Operation = protos.google.cloud.compute.v1.IOperation

/** Quotas and a lack of machines show within seconds; a machine that is still being made then shows in `describe`. */
export const WATCHED_MS = 20_000
const FIRST_LOOK_MS = 500
const LONGEST_PAUSE_MS = 2_000

/** Rejects with what the operation says went wrong. Returns when it is done, or when it has been watched for long enough. */
export async function watchOperation(
  { operations, project, options }: Compute,
  zone: string,
  operation: string,
  limits: CallLimits & { readonly signal: AbortSignal },
): Promise<void> {
  const deadline = Date.now() + WATCHED_MS
  let pauseMs = limits.firstWaitMs ?? FIRST_LOOK_MS
  while (Date.now() < deadline) {
    const [seen] = await repeatSafe(() => operations.get({ project, zone, operation }, options), {
      ...limits,
      problemOf,
    })
    throwIfFailed(seen)
    if (seen.status === 'DONE' || seen.status === DONE) return
    await wait(pauseMs, undefined, { signal: limits.signal }).catch((error: unknown) => {
      limits.signal.throwIfAborted()
      throw error
    })
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}

/** As the library's decoder has it where it is asked for numbers. */
const DONE = 2104194

function throwIfFailed({ error, httpErrorStatusCode }: Operation): void {
  const errors = error?.errors ?? []
  const [first] = errors
  if (!first) return
  const status = httpErrorStatusCode ?? 400
  const message = errors.map(({ code, message: said }) => `${code}: ${said}`).join('; ')
  throw new Refusal(problemOfCode(first.code ?? '', status), message, status)
}
