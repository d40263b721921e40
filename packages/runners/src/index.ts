export { createHostRunners, type HostRunners, type HostRunnersOptions } from './host/host-runners.ts'
export { MARKER_VARIABLE } from './marker.ts'
export { detectCapabilities, type CapabilityQuestions } from './capabilities.ts'
