// long
import { once } from 'node:events'
import { expect, jest, test } from '@jest/globals'
import { CloudError } from '@scanfarm/cloud'
import type { Artifact, CloudInfra, JobStatus, Step } from '@scanfarm/contracts'
import { openCloudFarm } from './farm.ts'

jest.setTimeout(300_000)

const isDestroyed = ({ status }: CloudInfra): boolean => status === 'destroyed'
const isReady = ({ status }: CloudInfra): boolean => status === 'ready'
const isOver = (job: JobStatus): boolean => job.completed + job.failed + job.cancelled === job.total_runs
const targets = (count: number): string[] => Array.from({ length: count }, (_, n) => `t${n}.example`)

test.concurrent(
  'a cloud job gets machines, runs on them, brings its results back, and its machines are destroyed',
  async () => {
    await using farm = await openCloudFarm()
    await using server = await farm.start()
    const { url } = server
    const job = await farm.submit(url, {
      module: 'scan',
      targets: targets(4),
      cloud_instances: 2,
      cloud_auto_destroy: true,
    })
    const infraId = String(job.infra_id)
    const done = await farm.untilJob(url, job.job_id, isOver)
    expect(done).toMatchObject({ total_runs: 4, completed: 4 })
    const machines = new Set<string>()
    for (const { run_uuid: uuid, target } of done.runs) {
      const run = await farm.untilRun(url, uuid, () => true)
      expect(run).toMatchObject({ run_mode: 'cloud', infra_id: infraId, error_message: '', attempt: 1 })
      machines.add(run.cloud_instance)
      const steps = (await farm.call<{ data: Step[] }>(url, 'GET', `/runs/${uuid}/steps`)).body.data
      expect(steps).toMatchObject([{ step_name: 'look', status: 'completed', output: `found ${target}\n` }])
      expect(await farm.text(url, `/runs/${uuid}/steps/${steps[0]?.id}/log`)).toBe(`found ${target}\n`)
      const artifacts = (await farm.call<{ data: Artifact[] }>(url, 'GET', `/runs/${uuid}/artifacts`)).body
        .data
      const report = artifacts.find(({ artifact_type: type }) => type === 'report')
      const content = await farm.text(url, `/runs/${uuid}/artifacts/${report?.id}/content`)
      expect(content).toBe(`found ${target}\n`)
    }
    expect(machines.size).toBe(2)
    const gone = await farm.untilInfra(url, infraId, isDestroyed)
    expect(gone).toMatchObject({ message: 'its work is done', ready_count: 0 })
    expect(farm.cloud.names).toEqual([])
    const keys = await farm.db.store.cloud.find(infraId)
    expect(JSON.stringify(keys)).not.toContain('PRIVATE KEY')
    expect(await farm.text(url, '/metrics')).toMatch(
      /scanfarm_cloud_runs_ended_total\{ending="completed"\} 4/,
    )
  },
)

test.concurrent('the output of a step on a cloud machine is followed while it runs', async () => {
  await using farm = await openCloudFarm()
  await using server = await farm.start()
  const { url } = server
  const job = await farm.submit(url, { module: 'slow', target: 'a.example', cloud_auto_destroy: true })
  await farm.untilPid(url, String(job.run_uuid))
  const { data } = (await farm.call<{ data: Step[] }>(url, 'GET', `/runs/${job.run_uuid}/steps`)).body
  expect(await farm.firstText(url, `/runs/${job.run_uuid}/steps/${data[0]?.id}/log`)).toBe('waiting\n')
  await farm.call(url, 'DELETE', `/runs/${job.run_uuid}`)
  await farm.untilInfra(url, String(job.infra_id), isDestroyed)
})

test.concurrent(
  'a cloud job goes on with the machines that came up, and its status says how many and why',
  async () => {
    await using farm = await openCloudFarm()
    await using server = await farm.start()
    const { url } = server
    // A create that failed for another reason is tried again.
    const granted = new Set<string>()
    farm.cloud.faults = {
      beforeCreate({ name }) {
        if (granted.size < 3) granted.add(name)
        if (!granted.has(name)) throw new CloudError('capacity', 'no small machines left in here')
      },
    }
    const job = await farm.submit(url, { module: 'scan', targets: targets(5), cloud_instances: 5 })
    const infraId = String(job.infra_id)
    const infra = await farm.untilInfra(url, infraId, isReady)
    expect(infra).toMatchObject({
      ready_count: 3,
      total_count: 5,
      message: '3 of 5 machines came up: no small machines left in here',
    })
    expect(await farm.untilJob(url, job.job_id, isOver)).toMatchObject({ completed: 5 })
    const { status } = await farm.call(url, 'DELETE', `/cloud/instances/${infraId}`)
    expect(status).toBe(202)
    await farm.untilInfra(url, infraId, isDestroyed)
    expect(farm.cloud.names).toEqual([])
  },
)

test.concurrent(
  'cancelling a cloud run while its machine is being made ends it at once; the machine goes when told so',
  async () => {
    await using farm = await openCloudFarm()
    await using server = await farm.start()
    const { url } = server
    const making = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    farm.cloud.faults = {
      async afterCreate() {
        making.resolve()
        await goOn.promise
      },
    }
    const job = await farm.submit(url, { module: 'slow', target: 'a.example', cloud_auto_destroy: true })
    await making.promise
    const { status, body } = await farm.call(url, 'DELETE', `/runs/${job.run_uuid}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ message: 'Run cancelled successfully' })
    goOn.resolve()
    await farm.untilRun(url, String(job.run_uuid), (run) => run.status === 'cancelled')
    await farm.untilInfra(url, String(job.infra_id), isDestroyed)
    expect(farm.cloud.names).toEqual([])
  },
)

test.concurrent(
  'machines that are there are used again by later jobs, and go with the last one that says so',
  async () => {
    await using farm = await openCloudFarm()
    await using server = await farm.start()
    const { url } = server
    const made = await farm.call<{ infra_id: string }>(url, 'POST', '/cloud/instances', { instances: 1 })
    const infraId = made.body.infra_id
    const first = await farm.submit(url, { module: 'scan', target: 'a.example', cloud_reuse_infra: infraId })
    expect(await farm.untilJob(url, first.job_id, isOver)).toMatchObject({ completed: 1 })
    expect(farm.cloud.names).toHaveLength(1)
    const last = await farm.submit(url, {
      module: 'scan',
      target: 'b.example',
      cloud_reuse_infra: infraId,
      cloud_auto_destroy: true,
    })
    expect(last).toMatchObject({ infra_id: infraId, cloud_instances: 1 })
    expect(await farm.untilJob(url, last.job_id, isOver)).toMatchObject({ completed: 1 })
    await farm.untilInfra(url, infraId, isDestroyed)
    expect(farm.cloud.created.filter((name) => name.includes(infraId))).toHaveLength(1)
    expect(farm.cloud.names).toEqual([])
  },
)

test.concurrent('several servers take over the machines and runs of one that was killed', async () => {
  await using farm = await openCloudFarm()
  const killed = await farm.spawn()
  const job = await farm.submit(killed.url, {
    module: 'slow',
    targets: targets(2),
    cloud_instances: 1,
    cloud_auto_destroy: true,
  })
  const [first] = (await farm.untilJob(killed.url, job.job_id, ({ running }) => running === 1)).runs
  const ended = once(killed.process, 'exit')
  killed.process.kill('SIGKILL')
  await ended
  await using server = await farm.start()
  const { url } = server
  const uuid = String(first?.run_uuid)
  const again = await farm.untilRun(url, uuid, (run) => run.status === 'running' && run.attempt === 2)
  expect(again.infra_id).toBe(job.infra_id)
  expect(farm.cloud.names).toHaveLength(1)
  await farm.call(url, 'POST', `/jobs/${job.job_id}/cancel`)
  await farm.untilJob(url, job.job_id, isOver)
  await farm.untilInfra(url, String(job.infra_id), isDestroyed)
  expect(farm.cloud.names).toEqual([])
})
