import { expect, test } from '@jest/globals'
import { contentTypeOf, likelyTypeOf } from '../src/content-type.ts'
import { keyPart } from '../src/key.ts'

test.each([
  ['a/b.json', 'json'],
  ['b.JSONL', 'jsonl'],
  ['b.yml', 'yaml'],
  ['b.htm', 'html'],
  ['b.markdown', 'md'],
  ['b.csv', 'txt'],
  ['scan.log', 'log'],
  ['x.tar.gz', 'unknown'],
  ['noextension', 'unknown'],
  ['.json', 'unknown'],
])('The content type of %s is %s', (path, type) => {
  expect(contentTypeOf(path)).toBe(type)
})

test.each([
  ['/w/screenshots/a.png', 'screenshot'],
  ['/w/out/Screenshots/deep/a.JPG', 'screenshot'],
  ['/w/screenshots/a.txt', 'output'],
  ['/w/a.png', 'output'],
  ['/w/screenshots.png', 'output'],
])('An unnamed artifact at %s has the type %s', (path, type) => {
  expect(likelyTypeOf(path)).toBe(type)
})

test('Any file name becomes a safe part of a key', () => {
  expect(keyPart('../../etc/passwd')).toBe('__.._etc_passwd')
  expect(keyPart('..')).toBe('_')
  expect(keyPart('')).toBe('_')
  expect(keyPart('bericht für a.txt')).toBe('bericht_f_r_a.txt')
})
