import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { withReference } from '../src/docs/reference.ts'
import { openLibrary, workflowJsonSchema } from '../src/index.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('the page on workflows says what the code says', () => {
  const page = readFileSync(join(ROOT, 'docs/workflows.md'), 'utf8')
  // Made anew by scripts/run packages/workflow/test/write-docs-program.ts
  expect(page).toBe(withReference(page))
})

test('the JSON Schema takes every workflow that is shipped and refuses misspelt keys', async () => {
  const validate = new Ajv2020({ strict: false }).compile(workflowJsonSchema())
  for (const { path, source } of (await openLibrary([join(ROOT, 'workflows')])).list()) {
    validate(parse(readFileSync(join(source, path), 'utf8')))
    expect({ path, errors: validate.errors ?? [] }).toEqual({ path, errors: [] })
  }
  expect(validate({ kind: 'module', name: 'x', steps: [{ name: 'a', type: 'bash', comand: 'x' }] })).toBe(
    false,
  )
  expect(
    validate({ kind: 'module', name: 'x', steps: [{ name: 'a', type: 'bash', on_error: 'continue' }] }),
  ).toBe(true)
})
