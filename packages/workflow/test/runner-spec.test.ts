import { describe, expect, test } from '@jest/globals'
import { moduleRunner, runnerInFlow } from '../src/execute/runner-spec.ts'
import type { Workflow } from '../src/model.ts'

const docker: Pick<Workflow, 'runner' | 'runner_config'> = {
  runner: 'docker',
  runner_config: { image: 'own:1', volumes: ['/a:/b'] },
}
const ssh = {
  runner: 'ssh',
  runner_config: {
    host: 'scan@10.0.0.1:2222',
    key_file: '/key',
    jump: 'gate',
    known_hosts: '/known',
    host_keys: 'accept-new',
  },
} as const

describe('the runner of a module', () => {
  test('is what its file says when nobody asked', () => {
    expect(moduleRunner({}, null)).toEqual({ type: 'host' })
    expect(moduleRunner(docker, null)).toEqual({ type: 'docker', image: 'own:1', volumes: ['/a:/b'] })
    expect(moduleRunner(ssh, null)).toEqual({
      type: 'ssh',
      host: '10.0.0.1',
      user: 'scan',
      port: 2222,
      keyFile: '/key',
      jump: 'gate',
      knownHosts: '/known',
      hostKeys: 'accept-new',
    })
  })

  test('keeps the rest of its settings with the image or host that was asked for', () => {
    expect(moduleRunner(docker, { type: 'docker', dockerImage: 'asked:2' })).toMatchObject({
      image: 'asked:2',
      volumes: ['/a:/b'],
    })
    expect(moduleRunner(ssh, { type: 'ssh', sshHost: '10.0.0.2' })).toMatchObject({
      host: '10.0.0.2',
      user: 'scan',
      port: 2222,
      keyFile: '/key',
    })
  })

  test('may have its image or host from the caller alone', () => {
    const imageless = { runner: 'docker', runner_config: { network: 'none' } } as const
    expect(moduleRunner(imageless, { type: 'docker', dockerImage: 'asked:2' })).toEqual({
      type: 'docker',
      image: 'asked:2',
      network: 'none',
    })
    const hostless = { runner: 'ssh', runner_config: { key_file: '/key' } } as const
    expect(moduleRunner(hostless, { type: 'ssh', sshHost: 'root@[::1]:22' })).toEqual({
      type: 'ssh',
      host: '::1',
      user: 'root',
      port: 22,
      keyFile: '/key',
    })
    expect(() => moduleRunner(imageless, null)).toThrow('needs runner_config.image')
  })

  test('has its settings also where the caller alone names the kind', () => {
    const settings = { runner_config: { network: 'host', image: 'own:1' } }
    expect(moduleRunner(settings, { type: 'docker', dockerImage: 'asked:2' })).toEqual({
      type: 'docker',
      image: 'asked:2',
      network: 'host',
    })
    expect(moduleRunner(settings, { type: 'docker' })).toMatchObject({ image: 'own:1' })
    expect(moduleRunner(settings, null)).toEqual({ type: 'host' })
  })

  test('is another kind than its file says when that was asked for with all it needs', () => {
    expect(moduleRunner(docker, { type: 'host' })).toEqual({ type: 'host' })
    expect(moduleRunner({}, { type: 'docker', dockerImage: 'asked:2' })).toEqual({
      type: 'docker',
      image: 'asked:2',
    })
    const imageless = { runner: 'docker' } as const
    expect(moduleRunner(imageless, { type: 'host' })).toEqual({ type: 'host' })
  })

  test('is refused and not another one where what was asked for is incomplete', () => {
    expect(() => moduleRunner({}, { type: 'docker' })).toThrow('runner_config.image')
    expect(() => moduleRunner(ssh, { type: 'docker' })).toThrow('needs docker_image')
    expect(() => moduleRunner(docker, { type: 'ssh' })).toThrow('needs ssh_host')
  })

  test('refuses an address that is none', () => {
    const bad = { runner: 'ssh', runner_config: { host: 'a b' } } as const
    expect(() => moduleRunner(bad, null)).toThrow('is not an ssh address')
  })
})

describe('the runner of a module in a flow', () => {
  test('is that of the flow where the module names none, with its settings laid over those of the flow', () => {
    expect(runnerInFlow({}, docker)).toEqual(docker)
    const own = { runner_config: { network: 'none', volumes: ['/c:/d'] } }
    expect(runnerInFlow(own, docker)).toEqual({
      runner: 'docker',
      runner_config: { image: 'own:1', volumes: ['/a:/b', '/c:/d'], network: 'none' },
    })
  })

  test('is its own where it names one, and another kind takes nothing of the flow', () => {
    expect(runnerInFlow({ runner: 'host' }, docker)).toEqual({ runner: 'host' })
    expect(runnerInFlow(ssh, docker)).toEqual(ssh)
    const image = { runner: 'docker', runner_config: { image: 'module:2' } } as const
    expect(runnerInFlow(image, docker)).toEqual({
      runner: 'docker',
      runner_config: { image: 'module:2', volumes: ['/a:/b'] },
    })
    expect(runnerInFlow(docker, {})).toEqual(docker)
  })
})
