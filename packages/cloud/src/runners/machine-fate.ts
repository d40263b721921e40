import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '@scanfarm/platform'
import type { RunPlace } from '@scanfarm/store'
import { askOverSsh } from '../machine/ssh-question.ts'
import type { CloudProviders } from '../open-providers.ts'
import { CloudError } from '../provider.ts'

/** Providers need some seconds to notice what they took away. */
const JUDGE_MS = 10_000
const PAUSE_MS = 1_000
const SSH_TIMEOUT_MS = 4_000

export interface FateDeps {
  readonly providers: Pick<CloudProviders, 'get'>
  readonly log: Logger
  readonly judgeMs?: number
}

/**
 * Whether a machine that fell silent is gone, with the reason, or undefined: it is there, or nobody knows in ten seconds.
 * Gone: the provider takes it away, or does not know it while it does not answer.
 */
export async function whyGone(
  place: RunPlace,
  deps: FateDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(deps.judgeMs ?? JUDGE_MS)])
  const host = { ...place, user: place.sshUser }
  try {
    for (;;) {
      const said = await askProvider(place, deps, limit)
      if (said.kind === 'leaving') return said.reason
      const answer = await askOverSsh(host, 'exit 0', { timeoutMs: SSH_TIMEOUT_MS, signal: limit })
      if (answer.kind === 'answered') return undefined
      if (said.kind === 'unknown') return 'the provider does not have it any more'
      await wait(PAUSE_MS, undefined, { signal: limit })
    }
  } catch (error) {
    if (limit.aborted) return undefined
    throw error
  }
}

type ProviderWord =
  | { readonly kind: 'leaving'; readonly reason: string }
  /** No such machine. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'there' }
  /** The provider itself cannot be asked. */
  | { readonly kind: 'nothing' }

async function askProvider(
  place: RunPlace,
  { providers, log }: FateDeps,
  signal: AbortSignal,
): Promise<ProviderWord> {
  try {
    const provider = await providers.get(place.provider)
    const machine = await provider.describe(place.resourceId, signal)
    if (machine === undefined) return { kind: 'unknown' }
    if (machine.state !== 'stopping' && machine.state !== 'gone') return { kind: 'there' }
    return { kind: 'leaving', reason: machine.message || 'the provider takes it away' }
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('a provider does not say what became of a machine', { infra_id: place.infraId, error })
    return { kind: 'nothing' }
  }
}
