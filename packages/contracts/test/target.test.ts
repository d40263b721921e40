import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  paramProblem,
  targetProblem,
  withoutPassword,
  withoutPasswords,
  workspaceProblem,
} from '../src/index.ts'

describe('targets', () => {
  test.each([
    'example.com',
    'example.com:8443',
    '10.0.0.0/8',
    '2001:db8::1',
    'user@host:22',
    '/srv/lists/hosts.txt',
    'bücher.example',
    'http://example.com/a?b=c&d=%20#frag~',
    'https://[2001:db8::1]:8443/path',
    'https://user@[fe80::1%25eth0]/',
    '*.example.com',
    '*.b\u00fccher.example.:8443',
    'https://*.example.com/',
    'https://example.com/a(1)/*.php?q=(*)',
    'https://example.com?q=*',
    '[2001:db8::1]:443',
    '[::1]',
    'https://user:pa%40ss@example.com/',
    'https://example.com/?a[]=1&b[x]=2',
    "https://example.com/a;b='c'?d=;&e='",
    '255.255.255.255:65535',
    '10.0.0.0/32',
    '2001:db8::/128',
    '10.0.0.1-50',
    '1.2.3.4.example.com',
    'example.com/2024',
    'https://10.0.0.1/99999',
  ])('%s is accepted', (target) => {
    expect(targetProblem(target)).toBeUndefined()
  })

  test.each([
    ['', 'must not be empty'],
    ['-oG', 'must not begin with "-"'],
    ['a'.repeat(2049), 'at most 2048 characters'],
    ['a b', 'U+0020'],
    ['a\u00a0b', 'U+00A0'],
    ['a\tb', 'U+0009'],
    ['a\nb', 'U+000A'],
    ['a\u0000b', 'U+0000'],
    ['a\u0085b', 'U+0085'],
    ['a\u200bb', 'U+200B'],
    ['\ud800', 'valid Unicode'],
    ['a&b', 'only in the path, query or fragment'],
    ['a=b', 'only in the path, query or fragment'],
    ['~root', 'only in the path, query or fragment'],
    ['[a]:80', 'only around an IPv6 address'],
    ['300.1.1.1', '300.1.1.1 is not an IPv4 address'],
    ['300.1.1.1:80', 'is not an IPv4 address'],
    ['010.1.1.1', 'is not an IPv4 address'],
    ['1.2.3.256/24', 'is not an IPv4 address'],
    ['http://1.2.3.999/', 'is not an IPv4 address'],
    ['example.com:65536', 'a port of at most 65535, not 65536'],
    ['[2001:db8::1]:70000', 'a port of at most 65535, not 70000'],
    ['https://u:p@example.com:99999/', 'a port of at most 65535, not 99999'],
    ['*.example.com:66000', 'a port of at most 65535'],
    ['10.0.0.0/33', 'at most 32, not 33'],
    ['2001:db8::/129', 'at most 128, not 129'],
    ["a'b", "may contain ' only in the path, query or fragment"],
    ['a;b', 'may contain ; only in the path, query or fragment'],
    ['http://a;b/', 'may contain ; only in the path, query or fragment'],
    ["http://u'@a/", "may contain ' only in the path, query or fragment"],
    ['http://u%4@a/', 'may contain % only in the path, query or fragment'],
    ['http://a&b/', 'only in the path, query or fragment'],
    ['http://a/[b]', 'only around an IPv6 address'],
    ['http://[x]/', 'only around an IPv6 address'],
    ['http:///path', 'needs a host'],
    ['*', 'only as *. in front of a domain'],
    ['*.', 'only as *. in front of a domain'],
    ['*.txt', 'only as *. in front of a domain'],
    ['*.*.example.com', 'only as *. in front of a domain'],
    ['a*.example.com', 'only as *. in front of a domain'],
    ['*.example.com/*', 'only as *. in front of a domain'],
    ['/etc/*.d/x', 'only as *. in front of a domain'],
    ['*.example.com&x.y', 'only as *. in front of a domain'],
    ['http://a*.example.com/', 'only as *. in front of a domain'],
    ['http://h/#*', 'only as *. in front of a domain'],
    ['a(1).example.com', '( only in the path or query of a URL'],
    ['http://h)/', ') only in the path or query of a URL'],
    ['http://h/?q#)', ') only in the path or query of a URL'],
  ])('%j is refused', (target, why) => {
    expect(targetProblem(target)).toContain(why)
  })

  test.each([...'"`\\$|<>{}!'])('a target with the character %s at any position is refused', (character) => {
    for (const target of [character, `a${character}b`, `http://h/${character}`, `http://h/?q=${character}`]) {
      expect(targetProblem(target)).toContain(character)
    }
  })

  test('the password of a URL is masked, and nothing else', () => {
    expect(withoutPassword('https://user:pa%40ss@h:8443/a?b=c')).toBe('https://user:***@h:8443/a?b=c')
    for (const target of [
      'https://h:8443/a@b',
      'https://user@h/',
      'user:pw',
      'h:1/x@y',
      'https://h/?q=a:b@c',
    ])
      expect(withoutPassword(target)).toBe(target)
  })

  test('the passwords of all URLs in params are masked, in time proportional to their length', () => {
    expect(
      withoutPasswords({
        proxy: 'http://u:p%40@h:1/a',
        flags: '-x socks5://a:b@h -u https://c:d@h/?q=x:y@z',
        plain: 'a:b@c',
      }),
    ).toEqual({
      proxy: 'http://u:***@h:1/a',
      flags: '-x socks5://a:***@h -u https://c:***@h/?q=x:y@z',
      plain: 'a:b@c',
    })
    const began = performance.now()
    withoutPasswords({ a: '://a:'.repeat(20_000), b: 'a'.repeat(100_000), c: `://:${':'.repeat(100_000)}` })
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  test('accepted targets other than URLs contain nothing special to a shell, for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (target) => {
        if (targetProblem(target) !== undefined || target.includes('://')) return
        expect(target.replace(/^\*\.|^\[[0-9a-f:.]+\]/i, '')).not.toMatch(/[\s"'`\\$;|<>(){}*!&?#=%~[\]]/)
      }),
    )
  })
})

describe('params', () => {
  test.each([
    '',
    '-sV -p 80',
    "it's",
    'a=b',
    'ä{}*',
    'Mozilla/5.0 (X11; Linux)',
    'a;b&c|d`e$f<g>h',
    'a\r\nb\t',
  ])('%j is accepted', (value) => {
    expect(paramProblem(value)).toBeUndefined()
  })

  test('params with NUL or an unpaired surrogate are refused', () => {
    expect(paramProblem('a\0b')).toBe('a param must not contain NUL')
    expect(paramProblem('a\ud800b')).toBe('a param must be valid Unicode')
  })
})

describe('workspaces', () => {
  test.each(['a', 'A.b_c-9', 'x'.repeat(128)])('%s is accepted', (name) => {
    expect(workspaceProblem(name)).toBeUndefined()
  })

  test.each(['', '.', '..', 'a/b', '../a', 'a b', 'x'.repeat(129), 'ä'])('%j is refused', (name) => {
    expect(workspaceProblem(name)).toContain('1 to 128 characters')
  })
})
