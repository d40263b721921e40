import { BlockList, isIPv6 } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import type { NeverScanRule, ScopeRules } from '../src/index.ts'
import { allows, allowsAddresses, boundaryOf, entryProblem, namesHost, namesIn } from '../src/index.ts'

const rules = (change: Partial<ScopeRules> = {}): ScopeRules => ({
  name: 'shop',
  allowed: ['*'],
  denied: [],
  valid_from: null,
  valid_until: null,
  windows: [],
  zone: 'UTC',
  enforcement: 'checked',
  ...change,
})
const never = (...entries: string[]): NeverScanRule[] =>
  entries.map((entry) => ({ entry, reason: 'a hospital', until: null }))

const NOW = new Date('2026-03-04T12:00:00Z')
const may = (target: string, allowed: string[], denied: string[] = [], list: string[] = []): boolean =>
  allows(boundaryOf([rules({ allowed, denied })], never(...list)), target, NOW).allowed
const isForbidden = (entry: string, target: string): boolean =>
  !allows(boundaryOf([], never(entry)), target, NOW).allowed

describe('an entry', () => {
  test.each([
    ['example.com', 'example.com', true],
    ['example.com', 'EXAMPLE.com.', true],
    ['example.com', 'https://user:secret@example.com:8443/x', true],
    ['example.com', 'user@example.com:22', true],
    ['example.com', 'www.example.com', false],
    ['example.com', '*.example.com', false],
    ['example.com', 'example.com.evil.org', false],
    ['example.com', 'https://evil.org/@example.com', false],
    ['example.com', 'https://example.com@evil.org/', false],
    ['*.example.com', 'example.com', true],
    ['*.example.com', 'a.b.example.com:80', true],
    ['*.example.com', '*.b.example.com', true],
    ['*.example.com', 'badexample.com', false],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['xn--bcher-kva.example', 'https://BÜCHER.example/', true],
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '10.1.2.0/24', true],
    ['10.0.0.0/8', '10.0.0.0/7', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', 'http://[::ffff:a01:203]/', true],
    ['10.0.0.0/8', '[::ffff:10.1.2.3]:80', true],
    ['10.0.0.0/8', '0x0a000001', true],
    ['10.0.0.0/8', '167772161', true],
    ['10.0.0.0/8', '10.1', true],
    ['10.0.0.0/8', 'http://0x0a.1/', true],
    ['10.0.0.0/8', '010.0.0.1', false],
    ['8.0.0.0/8', '010.0.0.1', false],
    ['10.0.0.0/8', '10.0.0-3.1-254', true],
    ['10.0.0.0/8', '10.*.*.*', true],
    ['10.0.0.0/8', '10.0.0.1,10.0.0.9', true],
    ['10.0.0.0/8', '10.0.0.1,11.0.0.9', false],
    ['10.0.0.0/8', '10.0.0.1-10.255.255.255', true],
    ['10.0.0.0/8', '10.0.0.1-11.0.0.0', false],
    ['10.0.0.3-10.0.0.9', '10.0.0.4/30', true],
    ['10.0.0.3-10.0.0.9', '10.0.0.8/30', false],
    ['10.0.0.1:80,8000-9000', 'http://10.0.0.1/', true],
    ['10.0.0.1:80,8000-9000', '10.0.0.1:8443', true],
    ['10.0.0.1:80,8000-9000', 'https://10.0.0.1/', false],
    ['10.0.0.1:80,8000-9000', '10.0.0.1', false],
    ['2001:db8::/32', '2001:db8:1::/48', true],
    ['2001:db8::/32', 'https://[2001:DB8::1%25eth0]:443/', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]/', true],
    ['[2001:db8::1]:443', '2001:db8::1', false],
    ['https://example.com/app', 'https://example.com/app/x?y', true],
    ['https://example.com/app', 'https://example.com:443/app', true],
    ['https://example.com/app', 'https://example.com/./b/%2e%2e/app/', true],
    ['https://example.com/app', 'https://example.com/apple', false],
    ['https://example.com/app', 'https://example.com/app/../admin', false],
    ['https://example.com/app', 'https://example.com/app/%2e%2e/admin', false],
    ['https://example.com/app', 'https://example.com/app/..%2fadmin', false],
    ['https://example.com/app', 'http://example.com/app', false],
    ['https://example.com/app', 'example.com', false],
    ['*:443', 'https://anything.example/', true],
    ['*:443', 'anything.example', false],
    ['*', 'anything.example', true],
    ['example.com', '/srv/repository', true],
    ['example.com', '//other.example/', false],
    ['example.com', 'git@example.com:org/repository.git', true],
    ['example.com', 'example.com/24', false],
    ['*', 'http://a.example\\@b.example/', false],
    ['*', 'http://a@b@c.example/', false],
  ])('%s allows %s: %s', (entry, target, expected) => {
    expect(may(target, [entry])).toBe(expected)
  })

  test('allows a network that several entries cover together, and names what is missing', () => {
    expect(may('10.0.0.0/24', ['10.0.0.0/25', '10.0.0.128/25'])).toBe(true)
    expect(may('10.0.0.0/24', ['10.0.0.0/25', '10.0.0.129-10.0.0.255'])).toBe(false)
    const [scope] = [rules({ allowed: ['10.0.0.0/25'] })]
    expect(allows(boundaryOf([scope], []), '10.0.0.0/24', NOW)).toMatchObject({
      cause: 'not_allowed',
      reason: 'the scope shop allows only a part of it',
    })
  })

  test.each([
    ['example.com', 'www.example.com'],
    ['example.com', '*.com'],
    ['www.example.com', '*.example.com'],
    ['10.0.0.7', '10.0.0.0/24'],
    ['10.0.0.7', '10.0.0.1-9'],
    ['10.0.0.7', 'a.example,10.0.0.7'],
    ['10.0.0.7', '10.0.0.7,a.example'],
    ['10.0.0.7', '64:ff9b::10.0.0.7'],
    ['10.0.0.7', '2002:0a00:0007::1'],
    ['10.0.0.7', '::ffff:0a00:7'],
    ['10.0.0.1', '012.0.0.1'],
    ['12.0.0.1', '012.0.0.1'],
    ['10.0.0.7:22', '10.0.0.7'],
    ['10.0.0.7:22', 'ssh://10.0.0.7'],
    ['https://example.com/logout', 'https://example.com//%6cogout?x'],
    ['127.0.0.0/8', 'http://2130706433/'],
    ['127.0.0.0/8', 'http://0177.0.0.1/'],
    ['::/0', '[::1]:80'],
  ])('%s on the never-scan list forbids %s', (entry, target) => {
    expect(isForbidden(entry, target)).toBe(true)
  })

  test.each([
    ['www.example.com', 'example.com'],
    ['10.0.0.7:22', 'https://10.0.0.7/'],
    ['https://example.com/logout', 'https://example.com/'],
    ['10.0.0.7', '10.0.0.8/29'],
    ['10.0.0.7', '/srv/10.0.0.7'],
  ])('%s on the never-scan list permits %s', (entry, target) => {
    expect(isForbidden(entry, target)).toBe(false)
  })

  test.each([
    ['', 'must not be empty'],
    ['10.0.0.5/8', 'is not the first address of its network'],
    ['10.0.0.0/33', 'the prefix is at most 32'],
    ['10.0.0.1-9', 'a range from one address to another'],
    ['0x0a.1', 'did you mean 10.0.0.1?'],
    ['example.com:http', 'are not ports like'],
    ['example.com:0', 'are not ports like'],
    ['https://user@example.com/', 'must not contain a user name'],
    ['https://example.com/?q', 'must not contain ? or #'],
    ['https://example.com:99999/', 'not a number from 1 to 65535'],
    ['exa mple.com', 'must not contain spaces'],
    ['foo..bar', 'is not a host'],
    ['*.*.com', 'is not a host'],
  ])('%j is refused with a reason', (entry, problem) => {
    expect(entryProblem(entry)).toContain(problem)
  })
})

describe('the reason of a refusal', () => {
  test('names the entry of the never-scan list with its reason and end', () => {
    const list = [{ entry: '10.0.0.0/24', reason: 'medical devices', until: '2027-01-01T00:00:00.000Z' }]
    expect(allows(boundaryOf([], list), '10.0.0.9', NOW)).toEqual({
      allowed: false,
      cause: 'never_scan',
      reason: 'it is on the never-scan list as 10.0.0.0/24 (medical devices, until 2027-01-01T00:00:00Z)',
    })
  })

  test('every scope must allow the target', () => {
    const both = boundaryOf([rules({ name: 'wide' }), rules({ name: 'narrow', allowed: ['a.example'] })], [])
    expect(allows(both, 'a.example', NOW).allowed).toBe(true)
    expect(allows(both, 'b.example', NOW)).toMatchObject({ reason: expect.stringContaining('narrow') })
  })

  test('a name is refused by its addresses', () => {
    const boundary = boundaryOf([rules({ denied: ['10.0.0.0/8:80'] })], never('192.0.2.0/24'))
    expect(namesIn('https://www.example.com:8443/x')).toEqual(['www.example.com'])
    expect(namesIn('10.0.0.1')).toEqual([])
    expect(allowsAddresses(boundary, 'a.example', ['198.51.100.1', '192.0.2.7'])).toMatchObject({
      reason: 'its address 192.0.2.7 is on the never-scan list as 192.0.2.0/24 (a hospital)',
    })
    expect(allowsAddresses(boundary, 'http://a.example', ['::ffff:10.0.0.1'])).toMatchObject({
      cause: 'denied',
    })
    expect(allowsAddresses(boundary, 'https://a.example', ['10.0.0.1'])).toEqual({ allowed: true })
  })
})

describe('the time of a scope', () => {
  const at = (time: string, change: Partial<ScopeRules>) =>
    allows(boundaryOf([rules(change)], []), 'a.example', new Date(time))
  const night: Partial<ScopeRules> = {
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '06:00' }],
    zone: 'Europe/Berlin',
  }

  test.each([
    ['2026-03-04T22:00:00Z', undefined],
    ['2026-03-05T04:59:59Z', undefined],
    ['2026-03-05T05:00:00Z', '2026-03-05T21:00:00.000Z'],
    ['2026-03-07T03:00:00Z', undefined],
    ['2026-03-07T12:00:00Z', '2026-03-09T21:00:00.000Z'],
    // The clocks change on the 29th of March.
    ['2026-03-28T12:00:30Z', '2026-03-30T20:00:00.000Z'],
  ])('a window of nights at %s opens at %s', (time, opens) => {
    const permission = at(time, night)
    expect(permission.allowed).toBe(opens === undefined)
    if (!permission.allowed) expect(permission.opensAt?.toISOString()).toBe(opens)
  })

  // From 02:00 the clocks go to 03:00, in October from 03:00 to 02:00.
  test.each([
    ['02:10', '02:50', '2026-10-25T00:55:00Z', '2026-10-25T01:10:00.000Z'],
    ['01:10', '02:20', '2026-10-25T00:55:00Z', '2026-10-25T01:00:00.000Z'],
    ['02:15', '02:45', '2026-03-28T12:00:00Z', '2026-04-05T00:15:00.000Z'],
    ['02:15', '02:45', '2026-03-29T00:15:00Z', '2026-04-05T00:15:00.000Z'],
    ['02:15', '04:00', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['02:15', '04:00', '2026-03-29T00:30:00Z', '2026-03-29T01:00:00.000Z'],
  ])(
    'a window of Sundays from %s to %s, a time that is left out or comes twice, opens after %s at %s',
    (from, to, now, opens) => {
      const windows = [{ days: ['sun' as const], from, to }]
      expect(at(now, { ...night, windows })).toMatchObject({ cause: 'closed', opensAt: new Date(opens) })
      expect(at(opens, { ...night, windows })).toEqual({ allowed: true })
    },
  )

  test('a scope opens when its validity begins, and ends for good', () => {
    expect(at('2026-03-01T00:00:00Z', { valid_from: '2026-03-02T00:00:00Z' })).toMatchObject({
      cause: 'closed',
      opensAt: new Date('2026-03-02T00:00:00Z'),
    })
    expect(at('2026-03-02T00:00:00Z', { valid_until: '2026-03-02T00:00:00Z' })).toMatchObject({
      cause: 'expired',
    })
    expect(at('2026-03-05T12:00:00Z', { ...night, valid_until: '2026-03-05T20:00:00Z' })).toMatchObject({
      cause: 'expired',
    })
  })
})

test.each([
  ['www.example.com', true],
  ['https://x', true],
  ['10.0.0.1', true],
  ['10.0.0.0/24', true],
  ['::1', true],
  ['bücher.example:8080', true],
  ['example.com/24', true],
  ['http://a\\@b.example', true],
  ['admin', false],
  ['admin/login.php', false],
  ['/etc/passwd.txt', false],
  ['// a comment', false],
  ['443', false],
  ['hunter2!', false],
  ['report.txt', false],
  ['results/scan.JSON', false],
  ['backup.tar.gz', false],
  ['https://report.txt/', true],
  ['report.txt:8080', true],
  ['archive.zip', true],
])('whether the item %s of a loop names a host: %s', (item, expected) => {
  expect(namesHost(item)).toBe(expected)
})

/** Small numbers, so that cases meet the edges of networks often. The generator repeats the same cases. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
  return (seed >>> 8) / 2 ** 24
}

test('4,000 generated addresses are allowed and forbidden as the BlockList of Node says', () => {
  const next = random(7)
  const pick = (most: number): number => Math.floor(next() * most)
  const v4 = (): string => `10.0.${pick(3)}.${pick(256)}`
  const v6 = (): string => `2001:db8::${pick(3)}:${pick(0x10000).toString(16)}`
  const network = (): readonly [string, number] =>
    next() < 0.6 ? [v4(), 20 + pick(13)] : [v6(), 100 + pick(29)]
  /** The first address of the network, by Node's own reading of the text. */
  const first = ([address, prefix]: readonly [string, number]): string => {
    const width = isIPv6(address) ? 128n : 32n
    const mask = ((1n << BigInt(prefix)) - 1n) << (width - BigInt(prefix))
    if (width === 32n) {
      const value = address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n) & mask
      return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
    }
    const [high = '0', low = '0'] = address.slice('2001:db8::'.length).split(':')
    const value = ((0x20010db8n << 96n) | (BigInt(`0x${high}`) << 16n) | BigInt(`0x${low}`)) & mask
    return Array.from({ length: 8 }, (_, word) =>
      ((value >> BigInt(112 - 16 * word)) & 0xffffn).toString(16),
    ).join(':')
  }
  const shown = (address: string): string => {
    const way = pick(4)
    if (isIPv6(address))
      return way === 0 ? `https://[${address}]/` : way === 1 ? address.toUpperCase() : address
    const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    return [address, `::ffff:${address}`, String(number), `http://0x${number.toString(16)}/`][way] ?? address
  }
  let cases = 0
  let agreed = 0
  for (let round = 0; round < 80; round++) {
    const sets = [new BlockList(), new BlockList(), new BlockList()] as const
    const texts = sets.map((set) =>
      Array.from({ length: 1 + pick(4) }, () => {
        const [address, prefix] = network()
        set.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4')
        return `${first([address, prefix])}/${prefix}`
      }),
    )
    const [allowed = [], denied = [], list = []] = texts
    const boundary = boundaryOf([rules({ allowed, denied })], never(...list))
    for (let one = 0; one < 50; one++) {
      const address = next() < 0.6 ? v4() : v6()
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      const expected =
        sets[0].check(address, family) && !sets[1].check(address, family) && !sets[2].check(address, family)
      const target = shown(address)
      const found = allows(boundary, target, NOW).allowed
      if (found !== expected) expect({ target, allowed, denied, list, found }).toEqual({ expected })
      cases += 1
      agreed += found ? 1 : 0
    }
  }
  expect(cases).toBe(4_000)
  // Both answers are frequent.
  expect(agreed).toBeGreaterThan(200)
  expect(agreed).toBeLessThan(3_800)
})
