import type { Config } from '@scanfarm/platform'
import type { CloudBudget } from '@scanfarm/store'

/** In the settings 0 stands for no limit. */
const limited = (bound: number): number | null => (bound === 0 ? null : bound)

export const budgetOf = ({ limits }: Pick<Config['cloud'], 'limits'>): CloudBudget => ({
  instances: limits.maxInstances,
  totalInstances: limits.maxTotalInstances,
  hours: limits.maxHours,
  totalInstanceHours: limited(limits.maxTotalInstanceHours),
  cost: limited(limits.maxCost),
  totalCost: limited(limits.maxTotalCost),
})

export const limitsCosts = ({ cost, totalCost }: CloudBudget): boolean => cost !== null || totalCost !== null
