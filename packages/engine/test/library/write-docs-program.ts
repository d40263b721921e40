/** Writes the reference of the language, docs/reference/workflows.md; `npm run generate` runs it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { referencePage } from '../../src/reference.ts'

await writeFile(join(import.meta.dirname, '../../../../docs/reference/workflows.md'), referencePage())
