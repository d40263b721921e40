// Prints the notes of a release, if the checkout is this release: scripts/run scripts/release/main.ts v1.2.3
import { join } from 'node:path'
import { releaseNotes } from './notes.ts'

try {
  process.stdout.write(releaseNotes(join(import.meta.dirname, '../..'), process.argv[2] ?? ''))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
