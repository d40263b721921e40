import { CliError, EXIT } from '../exit.ts'
import type { Api } from './api.ts'

interface Named {
  readonly id: string
  readonly name: string
}

/** The id of what has this name or id. A name of several is refused: nothing is done to the wrong one. */
const idOf = (kind: string, given: string, all: readonly Named[]): string => {
  const named = all.filter(({ name }) => name === given)
  if (all.some(({ id }) => id === given) || named.length === 0) return given
  const [first] = named
  if (first !== undefined && named.length === 1) return first.id
  throw new CliError(
    EXIT.usage,
    `${named.length} ${kind}s have the name ${JSON.stringify(given)}; give an id: ${named.map(({ id }) => id).join(', ')}`,
  )
}

/** The id of a schedule by its name or id. */
export const scheduleId = async (api: Api, given: string): Promise<string> =>
  /^sch_[0-9a-f]{16}$/.test(given) ? given : idOf('schedule', given, (await api.all('/schedules', {})).data)

/** The id of a worker by its name or id. A lost one has often been followed by another of its name. */
export const workerId = async (api: Api, given: string): Promise<string> => {
  const { data } = await api.all('/workers', {})
  return idOf(
    'worker',
    given,
    data.filter(({ status }) => status !== 'lost'),
  )
}
