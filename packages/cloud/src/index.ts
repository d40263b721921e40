export * from './provider.ts'
export { openProviders, providersFrom, type CloudProviders } from './open-providers.ts'
export { providerSettings } from './providers/settings.ts'
export { checkCredentials, notConfigured } from './check-credentials.ts'
export {
  budgetOf,
  defaultProvider,
  draftInfra,
  resolveRequest,
  type CloudContext,
  type InfraRequest,
} from './draft-infra.ts'
export { startProvisioning, type ProvisioningOptions } from './provisioning/start-provisioning.ts'
export type { ProvisioningSettings } from './provisioning/settings.ts'
export type { ProvisioningMetrics } from './provisioning/reconciliation.ts'
export { createCloudRunners, type CloudRunnersOptions } from './runners/cloud-runners.ts'
