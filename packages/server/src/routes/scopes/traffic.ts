import {
  closed,
  hostSearchOf,
  MAX_TARGET_LENGTH,
  Traffic,
  withoutPassword,
  withoutPasswords,
} from '@scanfarm/contracts'
import { sendsNothing } from '@scanfarm/functions'
import { Type } from 'typebox'
import { wrongField } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'

const MOST_RUNS = 100
const DAY_MS = 86_400_000

const moment = (otherwise: string) =>
  Type.Optional(Type.String({ description: `RFC 3339, or a date; default: ${otherwise}` }))

const timeOf = (name: string, text: string | undefined, otherwise: number): Date => {
  const time = text === undefined ? otherwise : Date.parse(text)
  if (Number.isNaN(time))
    throw wrongField(
      `/${name}`,
      `${JSON.stringify(text)} is no time: write it like 2026-11-27T20:00:00Z or 2026-11-27`,
    )
  return new Date(time)
}

const KNOWN =
  'It is known of targets, items of loops, and URLs of http steps and functions; of the addresses of names only where addresses are forbidden. Hosts that tools find, follow or ask by themselves are not known.'

/** The record of a step may leave its functions out, or end before the last of them. */
const isWhole = (command: string): boolean => command !== '' && !command.endsWith('…')

export const findTraffic = route(
  {
    endpoint: 'GET /traffic',
    summary: 'Find the runs that may have sent traffic to a host',
    description:
      'Runs that worked in the time asked for and had the host, a network or a domain that has it as target, item of a loop, or URL of a request; newest first, at most 100.',
    role: 'viewer',
    query: closed({
      address: Type.String({
        maxLength: MAX_TARGET_LENGTH,
        description: 'Address or name of a host',
      }),
      from: moment('a day before to'),
      to: moment('now'),
    }),
    responses: {
      200: Type.Object({
        data: Type.Array(Traffic),
        truncated: Type.Boolean({ description: 'There are more: choose a shorter time' }),
        message: Type.String({ description: 'What the answer proves' }),
      }),
    },
  },
  async ({ store }, { query }) => {
    const search = hostSearchOf(query.address.trim())
    if (search === undefined)
      throw wrongField(
        '/address',
        `${JSON.stringify(query.address)} is not the address or name of one host: give one like 198.51.100.7, 2001:db8::7 or www.example.com`,
      )
    const to = timeOf('to', query.to, Date.now())
    const from = timeOf('from', query.from, to.getTime() - DAY_MS)
    if (from > to) throw wrongField('/from', 'must not be after to')
    const { data, truncated, oldestRun } = await store.traffic.find({ ...search, from, to }, MOST_RUNS)
    const count =
      data.length === 0
        ? 'No run'
        : `${truncated ? 'More than ' : ''}${data.length} ${data.length === 1 ? 'run' : 'runs'}`
    const kept =
      oldestRun === null
        ? ' No run is kept.'
        : new Date(oldestRun) > from
          ? ` Runs from before ${oldestRun} are not kept.`
          : ''
    const message = `${count} from ${from.toISOString()} to ${to.toISOString()}.${kept} ${KNOWN}`
    const marked = data.map(({ steps, ...run }) => ({
      ...run,
      target: withoutPassword(run.target),
      steps: steps.map(({ type, ...step }) => ({
        ...step,
        ...withoutPasswords({ command: step.command }),
        sends_nothing: type === 'function' && isWhole(step.command) && sendsNothing(step.command),
      })),
    }))
    return { data: marked, truncated, message }
  },
)
