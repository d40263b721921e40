import { describe, expect, test } from '@jest/globals'
import { moduleRunner, runnerInFlow } from '../../src/runner/runner-spec.ts'
import type { Workflow } from '@scanfarm/language'

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
  test('a module uses the runner of its file when the caller chooses none', () => {
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

  test('a module keeps its other runner settings with the image or host that the caller chooses', () => {
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

  test('the image or host of a module may come from the caller only', () => {
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

  test('runner settings of a module apply also if only the caller names the type', () => {
    const settings = { runner_config: { network: 'host', image: 'own:1' } }
    expect(moduleRunner(settings, { type: 'docker', dockerImage: 'asked:2' })).toEqual({
      type: 'docker',
      image: 'asked:2',
      network: 'host',
    })
    expect(moduleRunner(settings, { type: 'docker' })).toMatchObject({ image: 'own:1' })
    expect(moduleRunner(settings, null)).toEqual({ type: 'host' })
  })

  test('the caller can choose another type of runner with all required settings', () => {
    expect(moduleRunner(docker, { type: 'host' })).toEqual({ type: 'host' })
    expect(moduleRunner({}, { type: 'docker', dockerImage: 'asked:2' })).toEqual({
      type: 'docker',
      image: 'asked:2',
    })
    const imageless = { runner: 'docker' } as const
    expect(moduleRunner(imageless, { type: 'host' })).toEqual({ type: 'host' })
  })

  test('an incomplete choice of runner is refused, without fallback', () => {
    expect(() => moduleRunner({}, { type: 'docker' })).toThrow('runner_config.image')
    expect(() => moduleRunner(ssh, { type: 'docker' })).toThrow('requires docker_image')
    expect(() => moduleRunner(docker, { type: 'ssh' })).toThrow('requires ssh_host')
  })

  test('an invalid address is refused', () => {
    const bad = { runner: 'ssh', runner_config: { host: 'a b' } } as const
    expect(() => moduleRunner(bad, null)).toThrow('is not an ssh address')
  })
})

describe('the runner of a module in a flow', () => {
  test('a module without a runner type uses that of the flow, and its settings override those of the flow', () => {
    expect(runnerInFlow({}, docker)).toEqual(docker)
    const own = { runner_config: { network: 'none', volumes: ['/c:/d'] } }
    expect(runnerInFlow(own, docker)).toEqual({
      runner: 'docker',
      runner_config: { image: 'own:1', volumes: ['/a:/b', '/c:/d'], network: 'none' },
    })
  })

  test('a module with a runner type uses its own, and inherits nothing from a flow of another type', () => {
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
