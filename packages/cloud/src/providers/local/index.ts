export { createLocalProvider, type LocalSettings } from './local-provider.ts'
export { provideNetwork, type MachineNetwork } from './network.ts'
