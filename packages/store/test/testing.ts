/** Test databases for the tests of other packages. */
export * from './database.ts'
export { assetOf, draft, eventDraft, findingOf } from './fixtures.ts'
