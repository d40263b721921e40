import { describe, expect, test } from '@jest/globals'
import { chooseRunner } from '../src/choose-runner.ts'

const docker = { type: 'docker', image: 'own:1', volumes: ['/a:/a'] } as const
const ssh = { type: 'ssh', host: 'own', port: 2222, user: 'scan', keyFile: '/key' } as const

describe('the runner of a run', () => {
  test('is the one of its workflow when nothing was asked for', () => {
    expect(chooseRunner(docker, null)).toBe(docker)
  })

  test('keeps the settings of the workflow when the same kind is asked for', () => {
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

  test('has the network that was asked for in place of that of the workflow', () => {
    const asked = { type: 'docker', dockerNetwork: 'none' } as const
    expect(chooseRunner({ ...docker, network: 'host' }, asked)).toEqual({ ...docker, network: 'none' })
    expect(chooseRunner({ type: 'host' }, { ...asked, dockerImage: 'x' })).toMatchObject({ network: 'none' })
  })

  test('is only what was asked for when that is another kind', () => {
    expect(chooseRunner(docker, { type: 'host' })).toEqual({ type: 'host' })
    expect(chooseRunner(ssh, { type: 'docker', dockerImage: 'x' })).toEqual({ type: 'docker', image: 'x' })
    expect(chooseRunner({ type: 'host' }, { type: 'ssh', sshHost: 'a@h:1' })).toEqual({
      type: 'ssh',
      host: 'h',
      port: 1,
      user: 'a',
    })
  })

  test('is refused when neither names the image or host', () => {
    expect(() => chooseRunner({ type: 'host' }, { type: 'docker' })).toThrow('docker_image')
    expect(() => chooseRunner(docker, { type: 'ssh' })).toThrow('ssh_host')
  })
})
