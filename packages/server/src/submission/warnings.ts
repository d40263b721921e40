import type { CreateRuns, Warnings } from '@scanfarm/contracts'

/** Fields that are taken because clients send them, and that would do harm or nothing here. */
export const warningsOf = (body: CreateRuns): Warnings => [
  ...(body.skip_validation === true
    ? [{ field: 'skip_validation', message: 'targets and params are always checked' }]
    : []),
  ...(body.notify_on_complete === true
    ? [
        {
          field: 'notify_on_complete',
          message: 'no notification is sent: POST /webhook-subscriptions for the topic run.completed',
        },
      ]
    : []),
  ...(body.empty_target === true &&
  [body.target, body.targets, body.target_file].some((way) => way !== undefined)
    ? [{ field: 'empty_target', message: 'the request names targets, and they are used' }]
    : []),
]
