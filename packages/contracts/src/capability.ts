/**
 * A run needs words, a worker has words; a worker may take a run when it has all of them. A set of needs that is in
 * use is a requirement class and has a queue of its own.
 */
export const canServe = (capabilities: readonly string[], needs: readonly string[]): boolean =>
  needs.every((need) => capabilities.includes(need))

/** Name of a requirement class: sorted words joined by blanks; `""` is the class that every worker serves. */
export const classOf = (needs: readonly string[]): string => [...new Set(needs)].sort().join(' ')

/** Offered by the slots in which a server looks after cloud runs; the other slots of servers take local runs. */
export const CLOUD_SLOTS = 'cloud'

export const needsOf = (requirementClass: string): string[] =>
  requirementClass === '' ? [] : requirementClass.split(' ')
