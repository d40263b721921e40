export { createLocalProvider, type LocalSettings } from './local-provider.ts'
export { provideNetwork, removeNetwork, type MachineNetwork } from './network.ts'
