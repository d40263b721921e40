import type { EventLogEntry } from '@scanfarm/contracts'

/** The end of a night that no job had, for tests of subscriptions. */
export const exampleEvent = (): EventLogEntry => {
  const now = new Date().toISOString()
  return {
    id: 0,
    topic: 'job.ended',
    event_id: 'evt_example',
    name: 'job.ended',
    source: 'executor',
    data_type: 'job',
    data: JSON.stringify({
      example: true,
      job_id: '0000000000000000',
      workflow: 'example',
      kind: 'flow',
      schedule: 'example',
      outcome: 'partial',
      is_cancelled: false,
      runs: { total: 3, completed: 3, failed: 0, cancelled: 0, clean: 2, partial: 1, nothing_done: 0 },
      findings: { new: { high: 1, low: 2 }, back: {}, gone: { medium: 1 }, not_tested: { high: 1 } },
      worst: [
        { id: 0, kind: 'new', severity: 'high', title: 'An example', place: 'https://host.example:8443' },
      ],
      unclean: [{ target: 'db.example', status: 'completed', outcome: 'partial', reason: 'no answer' }],
      path: '/jobs',
    }),
    workspace: 'example',
    run_id: '',
    workflow_name: 'example',
    processed: true,
    processed_at: now,
    error: '',
    created_at: now,
  }
}
