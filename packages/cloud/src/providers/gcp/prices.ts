/** US dollars an hour, on demand, Iowa (us-central1), without disk; about what it was on 2025-06-01. `cloud.prices` is for exact ones. */
const ON_DEMAND: Readonly<Record<string, number>> = {
  'e2-micro': 0.00838,
  'e2-small': 0.01675,
  'e2-medium': 0.03351,
  'e2-standard-2': 0.06701,
  'e2-standard-4': 0.13402,
  'e2-standard-8': 0.26805,
  'e2-highcpu-2': 0.04947,
  'e2-highcpu-4': 0.09894,
  'e2-highcpu-8': 0.19788,
  'n1-standard-1': 0.0475,
  'n1-standard-2': 0.095,
  'n2-standard-2': 0.0971,
  'n2-standard-4': 0.1942,
  'n2-standard-8': 0.3885,
  'n2d-standard-2': 0.0845,
  'n2d-standard-4': 0.169,
  'c3-highcpu-4': 0.1705,
  'c3-standard-4': 0.2014,
  't2d-standard-1': 0.04225,
  't2d-standard-2': 0.0845,
  't2d-standard-4': 0.169,
}

/** How much dearer a region is at most, as series differ: the figures are for budgets, which had better be too high. */
const FACTORS: Readonly<Record<string, number>> = {
  'us-central1': 1,
  'us-east1': 1,
  'us-west1': 1,
  'us-east4': 1.15,
  'us-west2': 1.25,
  'northamerica-northeast1': 1.15,
  'europe-north1': 1.15,
  'europe-west1': 1.15,
  'europe-west2': 1.3,
  'europe-west3': 1.3,
  'europe-west4': 1.15,
  'asia-east1': 1.2,
  'asia-northeast1': 1.3,
  'asia-south1': 1.25,
  'asia-southeast1': 1.25,
  'australia-southeast1': 1.45,
}

/** Undefined for types and regions that are not in the tables. Spot machines cost less, never more. */
export function onDemandPrice(region: string, type: string): number | undefined {
  const price = ON_DEMAND[type]
  const factor = FACTORS[region.replace(/-[a-z]$/, '')]
  return price === undefined || factor === undefined ? undefined : price * factor
}
