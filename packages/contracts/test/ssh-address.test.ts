import { describe, expect, test } from '@jest/globals'
import { formatSshAddress, parseSshAddress } from '../src/runs/ssh-address.ts'

describe('ssh addresses', () => {
  test.each([
    ['host', { host: 'host' }],
    ['host.example:2222', { host: 'host.example', port: 2222 }],
    ['scan@10.0.0.1', { host: '10.0.0.1', user: 'scan' }],
    ['scan@10.0.0.1:22', { host: '10.0.0.1', port: 22, user: 'scan' }],
    ['root@[2001:db8::1]:22', { host: '2001:db8::1', port: 22, user: 'root' }],
    ['[fe80::1%eth0]', { host: 'fe80::1%eth0' }],
  ])('the ssh address %s is parsed', (text, address) => {
    expect(parseSshAddress(text)).toEqual({ port: undefined, user: undefined, ...address })
  })

  test.each([
    '',
    'user@',
    'host:',
    'host:0',
    'host:65536',
    'host:x',
    'a b',
    '2001:db8::1',
    '-oProxyCommand=x',
    'u@-x',
    'a@b@c',
  ])('the ssh address "%s" is refused with the expected form', (text) => {
    expect(() => parseSshAddress(text)).toThrow('write user@host:port')
  })

  test('an ssh address is formatted with its port, and with brackets around IPv6 addresses', () => {
    expect(formatSshAddress({ host: '::1', user: 'a' })).toBe('a@[::1]:22')
    expect(formatSshAddress({ host: 'h', port: 2 })).toBe('h:2')
  })
})
