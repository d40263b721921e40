export * from './allows.ts'
export * from './network-rules.ts'
export { entryProblem } from './entry.ts'
export * from './limits.ts'
export * from './schemas.ts'
export {
  ANY_HOST,
  destinationsOf,
  hostSearchOf,
  isFoundByTarget,
  RECORDED_DESTINATIONS,
  type HostSearch,
} from './destinations.ts'
export { addressRanges, addressText, embedding, isV4, V4_ALL, V4_BASE, type Range } from './host.ts'
export { shareAPort, type PortRange } from './ports.ts'
export { namesHost, readTarget } from './target.ts'
export { zoneProblem } from './windows.ts'
