import { ENFORCED } from '@scanfarm/contracts'
import { errorText, type Logger } from '@scanfarm/platform'
import type { RunSettings } from '../settings/settings.ts'
import { demandIsolation, type Isolation } from '../users/isolation.ts'
import { Firewall } from './firewall.ts'

export interface Enforcement {
  /** Undefined: this process cannot limit the packets of its commands. */
  readonly firewall: Firewall | undefined
  /** Why packets may pass it; undefined: none does. */
  readonly gap: string | undefined
}

/** What it offers to runs. */
export const enforcedCapabilities = ({ gap }: Enforcement): readonly string[] =>
  gap === undefined ? [ENFORCED] : []

const cannot = (isolation: Isolation): string | undefined => {
  if (isolation.kind === 'uids' || isolation.kind === 'user') return undefined
  return 'commands do not run as users that only they have: the worker must run as root'
}

/** Opens what keeps packets of commands from forbidden addresses, and logs whether scopes are enforced. */
export const openFirewall = async (
  settings: RunSettings,
  log: Logger,
  scope: AsyncDisposableStack,
): Promise<Enforcement> => {
  const checkedOnly = (reason: string, firewall?: Firewall): Enforcement => {
    log.info('scope: checked, not enforced', { reason })
    return { firewall, gap: reason }
  }
  const isolation = demandIsolation(settings)
  const problem = cannot(isolation)
  if (problem !== undefined) return checkedOnly(problem)
  try {
    const unpaced = isolation.kind === 'uids' ? undefined : 'all commands have one user'
    const firewall = scope.use(await Firewall.open(log, unpaced))
    const reason = firewall.paceGap
    if (reason !== undefined) log.info('limits: new connections of commands are not delayed', { reason })
    if (settings.runner.newPrivileges)
      return checkedOnly('runner.new_privileges lets commands become other users', firewall)
    log.info('scope: enforced')
    return { firewall, gap: undefined }
  } catch (error) {
    return checkedOnly(
      `${errorText(error)}; nftables, the right CAP_NET_ADMIN and Linux 5.16 or newer are needed`,
    )
  }
}
