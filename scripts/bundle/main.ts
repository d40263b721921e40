// Builds the bundle of the program unless it is current; --sealed: for an image, whose sources never change.
import { join } from 'node:path'
import { buildBundle } from './build.ts'
import { currentBundle } from './current.ts'

const root = join(import.meta.dirname, '../..')
if (currentBundle(root) === undefined) {
  console.error('scanfarm: building the program (first use, or its sources changed)')
  await buildBundle(root, { sealed: process.argv.includes('--sealed') })
}
