import type { CallLimits } from '../calls.ts'
import { callOnce, repeatSafe } from '../calls.ts'
import { CloudError } from '../../provider.ts'
import type { Clients } from './clients.ts'
import { sameId, type Network } from './machines.ts'
import { NAME_TAG } from './machine-plan.ts'
import { isNotFound, problemOf } from './problems.ts'

/** Of machines, cards or addresses in the resource group, others' included. */
const MOST_LISTED = 20_000
/** Between looks at the deletion of a card. */
const LOOK_MS = 500

type Limits = CallLimits & { readonly signal: AbortSignal }

/** All of a list, page after page. */
export async function collected<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of pages) {
    all.push(one)
    if (all.length > MOST_LISTED)
      throw new CloudError(
        'refused',
        `azure lists more than ${MOST_LISTED} of one kind in the resource group`,
      )
  }
  return all
}

/** The cards and addresses of the resource group with those tags. */
export async function findNetwork(
  { network, group }: Clients,
  tag: { readonly key: string; readonly value: string },
  limits: Limits,
): Promise<Network> {
  const listed = <T extends { tags?: Record<string, string> }>(
    list: (options: { abortSignal: AbortSignal }) => AsyncIterable<T>,
  ) =>
    repeatSafe(async (abortSignal) => await collected(list({ abortSignal })), { ...limits, problemOf }).then(
      (all) => all.filter(({ tags }) => tags?.[tag.key] === tag.value),
    )
  const [cards, addresses] = await Promise.all([
    listed((options) => network.networkInterfaces.list(group, options)),
    listed((options) => network.publicIPAddresses.list(group, options)),
  ])
  return { cards, addresses }
}

/** Deletes what is there of a machine that is not. An address goes only when its card has gone. */
export async function deleteLeftovers(clients: Clients, name: string, limits: Limits): Promise<void> {
  const { cards, addresses } = await findNetwork(clients, { key: NAME_TAG, value: name }, limits)
  const { network, group } = clients
  const deletion = { ...limits, problemOf }
  await Promise.all(
    cards.map((card) =>
      unlessGone(
        callOnce(async (abortSignal) => {
          const options = {
            abortSignal,
            updateIntervalInMs: Math.min(LOOK_MS, limits.firstWaitMs ?? LOOK_MS),
          }
          await network.networkInterfaces
            .delete(group, card.name ?? '', options)
            .pollUntilDone({ abortSignal })
        }, deletion),
      ),
    ),
  )
  const owned = addresses.filter(
    ({ ipConfiguration }) => !ipConfiguration || cards.some((card) => isOf(card.id, ipConfiguration.id)),
  )
  await Promise.all(
    owned.map((address) =>
      unlessGone(
        repeatSafe(async (abortSignal) => {
          await network.publicIPAddresses.delete(group, address.name ?? '', { abortSignal }).submitted()
        }, deletion),
      ),
    ),
  )
}

/** The id of a card's configuration begins with that of the card. */
const isOf = (card: string | undefined, configuration: string | undefined): boolean =>
  card !== undefined && sameId(card, configuration?.slice(0, card.length))

export async function unlessGone(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
