import { closed, LIMIT_KINDS, Limits, wrapped, type FieldError } from '@scanfarm/contracts'
import { problemAt, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'

/** A run has at least one connection a second. `at`: where the limits are in the body. */
export const limitProblems = (limits: Limits | undefined, at = ''): FieldError[] =>
  LIMIT_KINDS.flatMap((kind) => {
    const { rate, runs = 1 } = limits?.[kind] ?? {}
    return problemAt(
      `${at}/${kind}/runs`,
      rate !== undefined &&
        runs > rate &&
        `must not be more than the rate, ${rate}, which the runs share: got ${runs}`,
    )
  })

export const getLimits = route(
  {
    endpoint: 'GET /limits',
    summary: 'Read how much all runs together may load the hosts that they scan',
    role: 'viewer',
    responses: { 200: wrapped(Limits) },
  },
  async ({ store }) => ({ data: await store.limits.read() }),
)

export const setLimits = route(
  {
    endpoint: 'PUT /limits',
    summary: 'Set how much all runs together may load the hosts that they scan',
    description:
      'Scopes can have limits of their runs as well; the stricter one holds. A run that has no share left waits without a slot. Runs that work keep their shares.',
    role: 'admin',
    // Without the name, which is registered by the bodies of scopes.
    body: closed(Limits.properties),
    responses: { 200: wrapped(Limits) },
  },
  async ({ store }, { body }) => {
    refuse(limitProblems(body))
    await store.limits.set(body)
    return { data: body }
  },
)
