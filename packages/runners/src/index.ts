export { createHostRunners, type HostRunners, type HostRunnersOptions } from './host/host-runners.ts'
export { MARKER_VARIABLE } from './marker.ts'
