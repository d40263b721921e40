import { CloudError } from '../../provider.ts'
import { callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { isNotFound } from '../errors.ts'
import type { Clients } from './clients.ts'
import { problemOf } from './errors.ts'
import { NAME_TAG, sameId, type Network } from './machines.ts'

/** Of machines, cards or addresses in the resource group, including those of others. */
const MOST_LISTED = 20_000
/** Between polls of the deletion of a card. */
const POLL_MS = 500

type Limits = CallLimits & { readonly signal: AbortSignal }

/** All items of a paged list. */
export async function collected<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of pages) {
    all.push(one)
    if (all.length > MOST_LISTED)
      throw new CloudError(
        'refused',
        `azure lists more than ${MOST_LISTED} items of one kind in the resource group`,
      )
  }
  return all
}

/** The cards and addresses of the resource group with this tag. */
export async function findNetwork(
  { network, group }: Clients,
  tag: { readonly key: string; readonly value: string },
  limits: Limits,
): Promise<Network> {
  const listed = <T extends { tags?: Record<string, string> }>(
    list: (options: { abortSignal: AbortSignal }) => AsyncIterable<T>,
  ) =>
    callWithRetry(async (abortSignal) => await collected(list({ abortSignal })), {
      ...limits,
      problemOf,
    }).then((all) => all.filter(({ tags }) => tags?.[tag.key] === tag.value))
  const [cards, addresses] = await Promise.all([
    listed((options) => network.networkInterfaces.list(group, options)),
    listed((options) => network.publicIPAddresses.list(group, options)),
  ])
  return { cards, addresses }
}

/** Deletes the cards and addresses of a machine that no longer exists. Azure refuses to delete the address of an existing card. */
export async function deleteLeftovers(clients: Clients, name: string, limits: Limits): Promise<void> {
  const { cards, addresses } = await findNetwork(clients, { key: NAME_TAG, value: name }, limits)
  const { network, group } = clients
  const deletion = { ...limits, problemOf }
  await Promise.all(
    cards.map((card) =>
      ignoreNotFound(
        callOnce(async (abortSignal) => {
          const options = {
            abortSignal,
            updateIntervalInMs: Math.min(POLL_MS, limits.firstWaitMs ?? POLL_MS),
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
      ignoreNotFound(
        callWithRetry(async (abortSignal) => {
          await network.publicIPAddresses.delete(group, address.name ?? '', { abortSignal }).submitted()
        }, deletion),
      ),
    ),
  )
}

/** The id of a configuration starts with the id of its card. */
const isOf = (card: string | undefined, configuration: string | undefined): boolean =>
  card !== undefined && sameId(card, configuration?.slice(0, card.length))

export async function ignoreNotFound(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
