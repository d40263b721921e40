// The bundle does not contain this file, but what its functions returned when the bundle was built.
import { join } from 'node:path'
import { readManifestFile, type Tool } from './manifest.ts'

const FILE = join(import.meta.dirname, '../../../infra/tools.yaml')

export const shippedTools = (): readonly Tool[] => [...readManifestFile(FILE).values()]
