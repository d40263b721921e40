import { collectDefaultMetrics, Registry } from 'prom-client'

export { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** The registry of a process, with the metrics of Node. The names of all other metrics start with `scanfarm_`. */
export const createMetrics = (labels: Readonly<Record<string, string>> = {}): Registry => {
  const registry = new Registry()
  registry.setDefaultLabels(labels)
  collectDefaultMetrics({ register: registry })
  return registry
}
