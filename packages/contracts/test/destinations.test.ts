import { describe, expect, test } from '@jest/globals'
import { destinationsOf, hostSearchOf, isFoundByTarget } from '../src/index.ts'

test.each([
  ['a.example', ['a.example'], true],
  ['https://A.example:8443/x', ['a.example'], false],
  ['https://a.example:8443/x', ['a.example'], true],
  ['user@a.example', ['a.example'], false],
  ['*.a.example', ['a.example'], false],
  ['10.0.0.1', ['10.0.0.1'], true],
  ['10.0.0.1:22', ['10.0.0.1'], true],
  ['ssh://10.0.0.1', ['10.0.0.1'], false],
  ['::ffff:10.0.0.1', ['10.0.0.1'], false],
  ['10.0.0.0/8', ['10.0.0.0/8'], true],
  ['10.0.0.0/8:80', ['10.0.0.0'], true],
  ['10.0.0.1-10.0.0.6', ['10.0.0.1', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6'], false],
  ['10.0.0.1,b.example', ['10.0.0.1', 'b.example'], false],
  ['0.0.0.0/0', ['0.0.0.0/0'], true],
  ['2001:DB8::0/32', ['2001:db8::/32'], false],
  ['https://[2001:db8::1]/', ['2001:db8::1'], true],
  ['/srv/list.txt', [], true],
  ['two words', ['*'], false],
])('%s names %j, and is found by itself: %s', (text, hosts, isFound) => {
  expect(destinationsOf(text)).toEqual(hosts)
  expect(isFoundByTarget(text)).toBe(isFound)
})

describe('a search', () => {
  /** As the database finds runs. */
  const finds = (host: string, target: string): boolean => {
    const { exact = [], prefixes = [], hosts = [] } = hostSearchOf(host) ?? {}
    return isFoundByTarget(target)
      ? exact.includes(target) || prefixes.some((prefix) => target.startsWith(prefix))
      : destinationsOf(target).some((one) => hosts.includes(one))
  }

  test.each([
    ['10.0.0.5', '10.0.0.5', true],
    ['10.0.0.5', 'http://10.0.0.5/', true],
    ['10.0.0.5', '10.0.0.50', false],
    ['10.0.0.5', 'http://10.0.0.50/', false],
    ['10.0.0.5', '10.0.0.0/24', true],
    ['10.0.0.5', '10.0.1.0/24', false],
    ['10.0.0.5', '10.0.0.1-10.0.0.6', true],
    ['10.0.0.7', '10.0.0.1-10.0.0.6', false],
    ['10.0.0.5', '::ffff:10.0.0.5', true],
    ['255.255.255.255', '0.0.0.0/0', true],
    ['2001:db8::5', '2001:db8::/32', true],
    ['2001:db8::5', '2001:db8::5', true],
    ['2001:db8::5', '2001:db8::5:1', false],
    ['2001:db8::5', 'https://[2001:db8::5]:8443/', true],
    ['www.a.example', 'https://www.a.example', true],
    ['www.a.example', 'a.example', true],
    ['a.example', 'www.a.example', false],
    ['a.example', 'ba.example', false],
    ['A.example.', 'user@a.example', true],
    ['a.example', 'two words', true],
  ])('for %s finds %s: %s', (host, target, expected) => {
    expect(finds(host, target)).toBe(expected)
  })

  test.each(['10.0.0.0/8', '', 'a b', 'http://a.example/'])('needs one host, not %j', (text) => {
    expect(hostSearchOf(text)).toBeUndefined()
  })
})
