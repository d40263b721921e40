/** Regenerates the reference in docs/workflows.md; `npm run generate` runs it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withReference } from '../../src/reference.ts'

const page = join(import.meta.dirname, '../../../../docs/workflows.md')
await writeFile(page, withReference(await readFile(page, 'utf8')))
