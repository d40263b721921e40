export type { components, operations, paths } from './schema.ts'
