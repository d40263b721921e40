import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { refusalOf, useConsole } from './harness.ts'

interface Droplet {
  readonly id: number
  readonly name: string
  readonly tags: readonly string[]
}

/** A DigitalOcean account. Its machines start, and never accept ssh. */
const droplets = new Map<number, Droplet>()
let full = false
/** Answers of deletes wait for it. */
let deleting = Promise.resolve()
let made = 0

const shown = (droplet: Droplet) => ({
  ...droplet,
  status: 'active',
  networks: { v4: [{ ip_address: '127.0.0.1', type: 'public' }], v6: [] },
})

const answer = async (request: IncomingMessage): Promise<readonly [status: number, body?: object]> => {
  const { pathname } = new URL(request.url ?? '/', 'http://cloud')
  if (pathname === '/v2/sizes')
    return [200, { sizes: [{ slug: 's-2vcpu-4gb', price_hourly: 0.5 }], links: {}, meta: { total: 1 } }]
  if (request.method === 'POST') {
    if (full) return [422, { id: 'unprocessable_entity', message: 'this will exceed your droplet limit' }]
    const { name, tags } = JSON.parse(await text(request)) as Omit<Droplet, 'id'>
    made += 1
    droplets.set(made, { id: made, name, tags })
    return [202, { droplet: shown({ id: made, name, tags }) }]
  }
  const droplet = droplets.get(Number(pathname.split('/')[3]))
  if (pathname === '/v2/droplets')
    return [200, { droplets: [...droplets.values()].map(shown), links: {}, meta: { total: droplets.size } }]
  if (droplet === undefined) return [404, { id: 'not_found', message: 'not found' }]
  if (request.method !== 'DELETE') return [200, { droplet: shown(droplet) }]
  await deleting
  droplets.delete(droplet.id)
  return [204]
}

const provider = createServer((request, response) => {
  void answer(request).then(([status, body]) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body && JSON.stringify(body))
  })
}).listen(0, '127.0.0.1')
await once(provider, 'listening')
const address = provider.address()

const farm = useConsole({
  workers: 0,
  env: {
    SCANFARM_CLOUD_ENABLED: 'yes',
    SCANFARM_CLOUD_PROVIDER: 'digitalocean',
    SCANFARM_CLOUD_LIMITS_MAX_TOTAL_COST: '5',
    SCANFARM_CLOUD_CREDENTIALS: 'digitalocean=dop_v1_test',
    SCANFARM_CLOUD_ENDPOINTS: `digitalocean=http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
  },
})
beforeEach(() => {
  full = false
  deleting = Promise.resolve()
})
afterAll(() => {
  provider.close()
  provider.closeAllConnections()
})

const create = async (): Promise<string> => {
  const { data } = await farm().api.POST('/cloud/instances', { body: { instances: 2, hours: 2 } })
  return data.infra_id
}

test('Machines are shown with their age, cost and share of the budget, and destroyed', async () => {
  const id = await create()
  const page = await farm().open('/cloud')
  const row = page.getByRole('row').filter({ hasText: id })
  await row.getByText('provisioning').waitFor()
  expect(await row.innerText()).toMatch(/0 of 2\s[\s\S]*digitalocean[\s\S]*\$1\.00[\s\S]*\$2\.00/)
  const booked = page.locator('.figure', { hasText: 'Booked until the machines expire' })
  await booked.getByText('$2.00').waitFor()
  expect(await booked.innerText()).toContain('of $5.00')
  await row.getByRole('link', { name: id }).click()
  await page
    .getByRole('row')
    .filter({ hasText: `${id}-1` })
    .getByText('booting')
    .waitFor()
  expect(await page.locator('dl', { hasText: 'Cost at most' }).innerText()).toMatch(
    /Cost an hour\s+\$1\.00\s+Cost at most\s+\$2\.00/,
  )
  const gate = Promise.withResolvers<void>()
  deleting = gate.promise
  const destroy = page.getByRole('button', { name: 'Destroy', exact: true })
  await destroy.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Destroy 2 machines' }).click()
  await page.getByText('draining').waitFor()
  expect(await refusalOf(destroy)).toBe('Its machines are being destroyed.')
  gate.resolve()
  const path = { infra_id: id }
  await until(
    async () => (await farm().api.GET('/cloud/instances/{infra_id}', { params: { path } })).data.data.status,
    (status) => status === 'destroyed',
    { limitMs: 180_000 },
  )
  await page.getByLabel('Course of the infrastructure').getByText('Destroyed', { exact: true }).waitFor()
  await destroy.waitFor({ state: 'detached' })
  expect(droplets.size).toBe(0)
}, 300_000)

test('Machines that the provider refuses are shown as failed, with its message and without a cost', async () => {
  full = true
  const id = await create()
  const page = await farm().open('/cloud?status=failed')
  const row = page.getByRole('row').filter({ hasText: id })
  await row.getByText('this will exceed your droplet limit').waitFor()
  expect(await row.innerText()).toContain('$0.00')
  await row.getByRole('link', { name: id }).click()
  await page.locator('main p.tone-bad', { hasText: 'this will exceed your droplet limit' }).waitFor()
  expect(await page.getByRole('button', { name: 'Destroy', exact: true }).count()).toBe(0)
})

test('More than the budget is refused with the limit, and an estimate names the price', async () => {
  const page = await farm().open('/cloud?tab=estimate')
  await page.getByRole('spinbutton', { name: 'Machines' }).fill('20')
  await page.getByRole('spinbutton', { name: 'Hours' }).fill('10')
  await page.getByRole('button', { name: 'Estimate the cost' }).click()
  await page.getByRole('region', { name: 'Estimate' }).getByText('$100.00').waitFor()
  await expect(
    farm().api.POST('/cloud/instances', { body: { instances: 20, hours: 10 } }),
  ).rejects.toMatchObject({ code: 'cloud_limit' })
})
