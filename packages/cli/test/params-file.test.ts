import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readParams } from '../src/scan/params.ts'

const folder = mkdtempSync(join(tmpdir(), 'scanfarm-params-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = async (text: string): Promise<Record<string, string>> => {
  const paramsFile = join(folder, 'params.yaml')
  writeFileSync(paramsFile, text)
  return await readParams({ paramsFile })
}

test('Params of a file are the texts of the file, also those that look like numbers', async () => {
  const params = { long: '12345678901234567890', zero: '0123', exponent: '1e3', version: '1.10', on: 'true' }
  const yaml = Object.entries(params).map(([name, value]) => `${name}: ${value}\n`)
  expect(await read(yaml.join(''))).toEqual(params)
  expect(await read('{"version": 1.10, "quoted": "1e3", "none": null}')).toEqual({
    version: '1.10',
    quoted: '1e3',
    none: '',
  })
  expect(await read('base: &b 1.50\nsame: *b\n')).toEqual({ base: '1.50', same: '1.50' })
})

test('A file of params that is no YAML, and a list as value, are refused with the name of the file', async () => {
  await expect(read('a: [1')).rejects.toThrow(/params\.yaml cannot be read as JSON or YAML/)
  await expect(read('a: [1]')).rejects.toThrow(/the param a must be a text, a number, true or false/)
})
