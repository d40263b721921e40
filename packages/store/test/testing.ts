/** Test databases for the tests of other packages. */
export * from './database.ts'
export { draft, eventDraft } from './fixtures.ts'
