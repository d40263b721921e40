export * from './allows.ts'
export * from './network-rules.ts'
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
export { addressRanges, embedding, V4_ALL, V4_BASE, type Range } from './host.ts'
export type { PortRange } from './ports.ts'
export { namesHost } from './target.ts'
export { zoneProblem } from './windows.ts'
