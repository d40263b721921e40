import { expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

// In a process of its own: Jest loads modules its own way, and has loaded much already.
const SOURCE = join(import.meta.dirname, '../../src/index.ts')
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*\\/node_modules\\/)/.exec(url) ?? []
      if (name) loaded.add(name)
      return next(url, context)
    },
  })
  await import(${JSON.stringify(SOURCE)})
  console.log(JSON.stringify([...loaded]))
`

test('the package loads no provider library when it is imported', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', SCRIPT])
  const loaded: string[] = JSON.parse(stdout)
  expect(loaded).toContain('typebox')
  expect(loaded.filter((name) => /^(@aws|@smithy|@azure)/.test(name))).toEqual([])
}, 120_000)
