/** Makes the generated parts of docs/workflows.md anew: `scripts/run packages/workflow/test/write-docs-program.ts`. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withReference } from '../src/docs/reference.ts'

const page = join(import.meta.dirname, '../../../docs/workflows.md')
await writeFile(page, withReference(await readFile(page, 'utf8')))
