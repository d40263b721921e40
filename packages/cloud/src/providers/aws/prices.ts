/** US dollars an hour, Linux, on demand, US East (Virginia); about what it was on 2025-06-01. `cloud.prices` is for exact ones. */
const ON_DEMAND: Readonly<Record<string, number>> = {
  't3.micro': 0.0104,
  't3.small': 0.0208,
  't3.medium': 0.0416,
  't3.large': 0.0832,
  't3.xlarge': 0.1664,
  't3.2xlarge': 0.3328,
  't3a.micro': 0.0094,
  't3a.small': 0.0188,
  't3a.medium': 0.0376,
  't3a.large': 0.0752,
  't3a.xlarge': 0.1504,
  't4g.micro': 0.0084,
  't4g.small': 0.0168,
  't4g.medium': 0.0336,
  't4g.large': 0.0672,
  't4g.xlarge': 0.1344,
  'm5.large': 0.096,
  'm5.xlarge': 0.192,
  'm5.2xlarge': 0.384,
  'm6i.large': 0.096,
  'm6i.xlarge': 0.192,
  'm6i.2xlarge': 0.384,
  'm6g.large': 0.077,
  'm6g.xlarge': 0.154,
  'm7i.large': 0.1008,
  'm7i.xlarge': 0.2016,
  'm7g.large': 0.0816,
  'm7g.xlarge': 0.1632,
  'c5.large': 0.085,
  'c5.xlarge': 0.17,
  'c5.2xlarge': 0.34,
  'c6i.large': 0.085,
  'c6i.xlarge': 0.17,
  'c6i.2xlarge': 0.34,
  'c6g.large': 0.068,
  'c6g.xlarge': 0.136,
  'c7i.large': 0.08925,
  'c7i.xlarge': 0.1785,
  'c7g.large': 0.0725,
  'c7g.xlarge': 0.145,
  'r5.large': 0.126,
  'r6i.large': 0.126,
  'r6i.xlarge': 0.252,
}

/** How much dearer a region is at most, as families differ: the figures are for budgets, which had better be too high. */
const FACTORS: Readonly<Record<string, number>> = {
  'us-east-1': 1,
  'us-east-2': 1,
  'us-west-2': 1,
  'us-west-1': 1.25,
  'ca-central-1': 1.15,
  'eu-north-1': 1.1,
  'eu-west-1': 1.15,
  'eu-west-2': 1.2,
  'eu-west-3': 1.2,
  'eu-central-1': 1.25,
  'ap-south-1': 1.15,
  'ap-northeast-1': 1.35,
  'ap-southeast-1': 1.3,
  'ap-southeast-2': 1.35,
  'sa-east-1': 1.65,
}

/** Undefined for types and regions that are not in the tables. */
export function onDemandPrice(region: string, type: string): number | undefined {
  const price = ON_DEMAND[type]
  const factor = FACTORS[region]
  return price === undefined || factor === undefined ? undefined : price * factor
}
