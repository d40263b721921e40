import { expect, test } from '@jest/globals'
import { plainWords } from '../src/host/plain-command.ts'

const words = (text: string) => plainWords(['/bin/sh', '-c', text])

test.each([
  ['true', ['true']],
  [' nmap  -sV\t-p1-100,443 host.example.com ', ['nmap', '-sV', '-p1-100,443', 'host.example.com']],
  ['./scan --rate=10 a=b %x @list +x', ['./scan', '--rate=10', 'a=b', '%x', '@list', '+x']],
  [`curl 'http://h/?a=b&c=$d' "it's" ''`, ['curl', 'http://h/?a=b&c=$d', "it's", '']],
  [`tool --url='a b'"c d"e`, ['tool', '--url=a bc de']],
  [`tool 'two\nlines'`, ['tool', 'two\nlines']],
])('%p needs no shell', (text, expected) => expect(words(text)).toEqual(expected))

test.each([
  '',
  ' ',
  'a; b',
  'a\nb',
  'a | b',
  'a & b',
  'a > b',
  'a < b',
  'a $b',
  'a `b`',
  'a "$b"',
  'a "`b`"',
  'a "\\b"',
  'a \\b',
  'a *',
  'a b?',
  'a [b]',
  'a ~',
  'a {b,c}',
  'a (b)',
  'a #b',
  '! a',
  "a 'b",
  'a "b',
  'A=b c',
  "'a' b",
  'echo a',
  'exit 3',
  'cd /',
  'time a',
  'if a',
  '. file',
  'setsid a',
  'env /usr/bin/setsid a',
  'timeout -k 1 5 a',
  `a ${'b'.repeat(40_000)}`,
])('%p needs a shell', (text) => expect(words(text)).toBeUndefined())

test.each([[['/bin/bash', '-c', 'true']], [['/bin/sh', '-ec', 'true']], [['/bin/sh', '-c', 'true', 'name']]])(
  '%p is another kind of command',
  (argv) => expect(plainWords(argv)).toBeUndefined(),
)
