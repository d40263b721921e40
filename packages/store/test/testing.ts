/** What the tests of other packages need of a database. */
export * from './database.ts'
export { draft, eventDraft } from './fixtures.ts'
