import { pause, type Logger } from '@scanfarm/platform'
import type { RunMachine } from '@scanfarm/store'
import { runOverSsh } from '../machine/run-over-ssh.ts'
import type { CloudProviders } from '../open-providers.ts'
import { CloudError } from '../provider.ts'

/** Providers report an interrupted machine some seconds late. */
const DIAGNOSE_MS = 10_000
const PAUSE_MS = 1_000
const SSH_TIMEOUT_MS = 4_000

export interface DiagnosisOptions {
  readonly providers: Pick<CloudProviders, 'get'>
  readonly log: Logger
  readonly diagnoseMs?: number
}

/**
 * Why a machine that does not respond is gone: the provider is stopping it, or does not know it and ssh fails. Undefined when it
 * responds or the time is over.
 */
export async function diagnoseLostMachine(
  machine: RunMachine,
  options: DiagnosisOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(options.diagnoseMs ?? DIAGNOSE_MS)])
  const host = { ...machine, user: machine.sshUser }
  try {
    while (!limit.aborted) {
      const report = await askProvider(machine, options, limit)
      if (report.kind === 'stopping') return report.reason
      const result = await runOverSsh(host, 'exit 0', { timeoutMs: SSH_TIMEOUT_MS, signal: limit })
      if (result.kind === 'completed') return undefined
      if (report.kind === 'unknown') return 'the provider does not have it any more'
      await pause(PAUSE_MS, limit)
    }
  } catch (error) {
    if (!limit.aborted) throw error
  }
  return undefined
}

type ProviderReport =
  | { readonly kind: 'stopping'; readonly reason: string }
  /** The provider has no such machine. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'present' }
  /** The call to the provider failed. */
  | { readonly kind: 'unavailable' }

async function askProvider(
  { provider: name, resourceId, infraId }: RunMachine,
  { providers, log }: DiagnosisOptions,
  signal: AbortSignal,
): Promise<ProviderReport> {
  try {
    const provider = await providers.get(name)
    const machine = await provider.describe(resourceId, signal)
    if (machine === undefined) return { kind: 'unknown' }
    if (machine.state !== 'stopping' && machine.state !== 'gone') return { kind: 'present' }
    return { kind: 'stopping', reason: machine.message || 'the provider is stopping it' }
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('the state of a machine cannot be read from its provider', { infra_id: infraId, error })
    return { kind: 'unavailable' }
  }
}
