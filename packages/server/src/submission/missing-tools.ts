import { AppError, ENFORCED, type MissingTools, type Warnings } from '@scanfarm/contracts'
import { lackOf, type JobDraft, type Lack, type Store } from '@scanfarm/store'
import { installAdvice } from '@scanfarm/tools'
import { toolsAmong } from '../cloud/plan-cloud-job.ts'

interface Context {
  readonly store: { readonly figures: Pick<Store['figures'], 'offers'> }
  readonly dispatcher?: { serves(requirementClass: string): boolean } | undefined
}

/** `nmap, httpx and docker` */
export const namesOf = (needs: readonly string[]): string => {
  const names = [...toolsAmong(needs), ...needs.filter((need) => !need.startsWith('tool:'))]
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}

const whatToDo = (needs: readonly string[]): string => {
  const tools = toolsAmong(needs)
  return [
    ...(tools.length === 0
      ? []
      : [
          `on a worker, ${installAdvice(tools)}; or start workers from an image with these programs, or let the steps run in docker images that have them`,
        ]),
    ...(needs.includes(ENFORCED)
      ? ['start a worker as root on Linux with nftables, which its scope demands']
      : []),
    ...(needs.includes('docker') ? ['give a worker access to a docker engine'] : []),
  ].join('; ')
}

const factOf = ({ kind, needs }: Lack): string => {
  if (kind === 'apart') return `no live worker has all of ${namesOf(needs)}`
  if (kind === 'missing') return `no live worker has ${namesOf(needs)}`
  return needs.length === 0
    ? 'no worker is connected'
    : `no worker is connected; the runs need one with ${namesOf(needs)}`
}

const remedyOf = ({ kind, needs }: Lack): string =>
  kind === 'no-worker' ? 'start one with "scanfarm worker"' : whatToDo(needs)

/** Warns about distributed runs that no live worker can take, or refuses them if the request wants that. */
export const checkMissingTools = async (
  { store, dispatcher }: Context,
  { runMode, requirementClass }: Pick<JobDraft, 'runMode' | 'requirementClass'>,
  asked: MissingTools | undefined,
): Promise<Warnings> => {
  if (runMode !== 'distributed' || dispatcher?.serves(requirementClass) === true) return []
  // What the dispatcher knows may be half a second old.
  const lack = lackOf(requirementClass, await store.figures.offers())
  if (lack === undefined) return []
  const field = 'missing_tools'
  if (asked === 'fail') {
    const message = `${factOf(lack)}: ${remedyOf(lack)}. With missing_tools "wait" the runs wait for such a worker`
    throw new AppError('missing_tools', message, {
      details: [{ path: `/${field}`, message: factOf(lack) }],
    })
  }
  const waits = lack.kind === 'no-worker' ? 'the runs wait until one joins' : 'the runs wait until one has'
  return [{ field, message: `${factOf(lack)}; ${waits}: ${remedyOf(lack)}` }]
}
