import { describe, expect, test } from '@jest/globals'
import { chooseRunner } from '../src/runs/choose-runner.ts'

const docker = { type: 'docker', image: 'own:1', volumes: ['/a:/a'] } as const
const ssh = { type: 'ssh', host: 'own', port: 2222, user: 'scan', keyFile: '/key' } as const

describe('the runner of a run', () => {
  test('a run uses the runner of its workflow when the caller chooses none', () => {
    expect(chooseRunner(docker, null)).toBe(docker)
  })

  test('a run keeps the settings of its workflow when the caller chooses the same type of runner', () => {
    expect(chooseRunner(docker, { type: 'docker', dockerImage: 'other:2' })).toEqual({
      ...docker,
      image: 'other:2',
    })
    expect(chooseRunner(docker, { type: 'docker' })).toEqual(docker)
    expect(chooseRunner(ssh, { type: 'ssh', sshHost: 'other' })).toEqual({ ...ssh, host: 'other' })
    expect(chooseRunner(ssh, { type: 'ssh', sshHost: 'root@other:22' })).toEqual({
      ...ssh,
      host: 'other',
      port: 22,
      user: 'root',
    })
  })

  test('the network that the caller chooses replaces that of the workflow', () => {
    const asked = { type: 'docker', dockerNetwork: 'none' } as const
    expect(chooseRunner({ ...docker, network: 'host' }, asked)).toEqual({ ...docker, network: 'none' })
    expect(chooseRunner({ type: 'host' }, { ...asked, dockerImage: 'x' })).toMatchObject({ network: 'none' })
  })

  test('the settings of the workflow are dropped when the caller chooses another type of runner', () => {
    expect(chooseRunner(docker, { type: 'host' })).toEqual({ type: 'host' })
    expect(chooseRunner(ssh, { type: 'docker', dockerImage: 'x' })).toEqual({ type: 'docker', image: 'x' })
    expect(chooseRunner({ type: 'host' }, { type: 'ssh', sshHost: 'a@h:1' })).toEqual({
      type: 'ssh',
      host: 'h',
      port: 1,
      user: 'a',
    })
  })

  test('a run is refused when neither the workflow nor the caller names the image or host', () => {
    expect(() => chooseRunner({ type: 'host' }, { type: 'docker' })).toThrow('docker_image')
    expect(() => chooseRunner(docker, { type: 'ssh' })).toThrow('ssh_host')
  })
})
