import { openFarm } from './loops/_farm.ts'
const farm = await openFarm()
const draft = { workflowName: 'probe', workflowKind: 'flow' as const, workflow: { hash: 'h', json: '{}' }, params: {}, priority: 'normal' as const, runMode: 'distributed' as const, runnerType: 'host' as const, runnerGiven: false, dockerImage: '', sshHost: '', timeoutMinutes: null, concurrency: null, requirementClass: '', triggerType: 'manual' as const, triggerName: '', scheduleId: '', eventEnvelope: '' }
const T = Array.from({ length: 50_000 }, (_, i) => ({ target: `host-${i}.test`, workspace: `host-${i}.test` }))
for (let i = 0; i < 6; i++) await farm.store.jobs.submit(draft, T)
await farm.sql(`update runs set status='completed', started_at = now(), completed_at = now() where id <= 100000`).catch(e => console.log(String(e)))
await farm.sql('delete from outbox where run_id <= 120000')
await farm.sql("update runs set updated_at = now() - interval '5 min' where status='queued'")
const time = async (name: string, f: () => Promise<unknown>) => { const s = performance.now(); const r = await f(); console.log(name, Math.round(performance.now() - s), Array.isArray(r) ? r.length : JSON.stringify(r)) }
for (const phase of ['fresh', 'analyzed']) {
  console.log(phase)
  await time('classes()', () => farm.store.outbox.classes())
  await time('takeable', () => farm.store.outbox.takeableClasses())
  await time('outside 0', () => farm.store.recovery.queuedOutside({ after: 0, limit: 1000, olderThanMs: 60000 }))
  await time('outside 119000', () => farm.store.recovery.queuedOutside({ after: 119_000, limit: 1000, olderThanMs: 60000 }))
  await time('outside tail', () => farm.store.recovery.queuedOutside({ after: 120_000, limit: 1000, olderThanMs: 60000 }))
  await time('slots', () => farm.store.recovery.recountSlots(1000))
  await time('reap', () => farm.store.recovery.reapOnce({ maxAttempts: 3, leaseMs: 20000, limit: 1000 }))
  await time('cancels', () => farm.store.recovery.forceStaleCancels(5000))
  await time('expand', () => farm.store.jobs.expandOnce())
  const take = () => farm.store.outbox.take({ classes: [''], room: { critical: 1, high: 1, normal: 2000, low: 1 }, limit: 2000, staleMs: 60000 })
  await time('take', take)
  await farm.sql('analyze')
}
await farm[Symbol.asyncDispose]()
