export * from './allows.ts'
export { entryProblem } from './entry.ts'
export * from './schemas.ts'
export {
  ANY_HOST,
  destinationsOf,
  hostSearchOf,
  isFoundByTarget,
  RECORDED_DESTINATIONS,
  type HostSearch,
} from './destinations.ts'
export { namesHost } from './target.ts'
export { zoneProblem } from './windows.ts'
