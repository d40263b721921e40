// exclusive: docker
import { expect, jest, test } from '@jest/globals'
import { connectEngine } from '../src/docker/engine.ts'
import { tryContainer } from '../src/docker/try-container.ts'
import { startEngine } from './docker-engine.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

const leftOn = async (engine: string) => {
  const docker = await connectEngine({ engine })
  return [await docker.listContainers({ all: true }), await docker.listImages({ all: true })]
}

test('An engine starts a container to show that it can, and keeps nothing of it', async () => {
  await using engine = await startEngine()
  expect(await tryContainer({ engine: engine.address })).toMatch(/^Engine \d+\./)
  expect(await leftOn(engine.address)).toEqual([[], []])
})

test('An engine that answers and starts no container is reported with its reason', async () => {
  await using engine = await startEngine({
    args: ['--add-runtime', 'broken=/bin/false', '--default-runtime', 'broken'],
  })
  await expect(tryContainer({ engine: engine.address })).rejects.toThrow(/^Engine .* starts no container: .*/)
  expect(await leftOn(engine.address)).toEqual([[], []])
})
