/**
 * Capabilities are words. A worker may execute a run if it has all capabilities that the run needs. Each set of needs
 * in use is a requirement class with its own queue.
 */
export const canServe = (capabilities: readonly string[], needs: readonly string[]): boolean =>
  needs.every((need) => capabilities.includes(need))

/** Prefix of program names in capabilities, and in the facts of a run. */
export const TOOL = 'tool:'

/** Capability of a machine whose kernel sends no packets of commands to forbidden addresses. */
export const ENFORCED = 'scope:enforced'

/** Name of a requirement class: its sorted words separated by spaces. `""` is the class that every worker serves. */
export const classOf = (needs: readonly string[]): string => [...new Set(needs)].sort().join(' ')

/** Capability of the slots in which a server executes cloud runs; the other slots of servers execute local runs. */
export const CLOUD_SLOTS = 'cloud'

export const needsOf = (requirementClass: string): string[] =>
  requirementClass === '' ? [] : requirementClass.split(' ')
