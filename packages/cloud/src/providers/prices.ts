/**
 * US dollars an hour for Linux, on demand, without disk and address, in the first region below; list prices of 2025-06-01.
 * `cloud.prices` in the settings is for exact prices.
 */
type Prices = Readonly<Record<string, number>>

/** Of the size `large`: the price of a family is proportional to the size. */
const AWS_PRICES: Prices = {
  t3: 0.0832,
  t3a: 0.0752,
  t4g: 0.0672,
  m5: 0.096,
  m6i: 0.096,
  m6g: 0.077,
  m7i: 0.1008,
  m7g: 0.0816,
  c5: 0.085,
  c6i: 0.085,
  c6g: 0.068,
  c7i: 0.08925,
  c7g: 0.0725,
  r5: 0.126,
  r6i: 0.126,
}
const AWS_SIZES: Prices = { micro: 1 / 8, small: 1 / 4, medium: 1 / 2, large: 1, xlarge: 2, '2xlarge': 4 }

/** Of a type, or of each processor of its types. */
const GCP_PRICES: Prices = {
  'e2-micro': 0.00838,
  'e2-small': 0.01675,
  'e2-medium': 0.03351,
  'e2-standard': 0.033507,
  'e2-highcpu': 0.024735,
  'n1-standard': 0.0475,
  'n2-standard': 0.048563,
  'n2d-standard': 0.04225,
  'c3-highcpu': 0.042625,
  'c3-standard': 0.05035,
  't2d-standard': 0.04225,
}

const AZURE_PRICES: Prices = {
  Standard_B1s: 0.0104,
  Standard_B1ms: 0.0207,
  Standard_B2s: 0.0416,
  Standard_B2ms: 0.0832,
  Standard_B4ms: 0.166,
  Standard_B2ls_v2: 0.0416,
  Standard_B2s_v2: 0.0832,
  Standard_B2as_v2: 0.0752,
  Standard_B2pts_v2: 0.0084,
  Standard_B2pls_v2: 0.0336,
  Standard_B2ps_v2: 0.0672,
  Standard_D2s_v3: 0.096,
  Standard_D4s_v3: 0.192,
  Standard_D2s_v4: 0.096,
  Standard_D2s_v5: 0.096,
  Standard_D4s_v5: 0.192,
  Standard_D8s_v5: 0.384,
  Standard_D2as_v5: 0.086,
  Standard_D4as_v5: 0.172,
  Standard_D2ps_v5: 0.077,
  Standard_D4ps_v5: 0.154,
  Standard_F2s_v2: 0.0846,
  Standard_F4s_v2: 0.169,
  Standard_F8s_v2: 0.338,
}

/** Upper bounds of the ratio between the prices of two regions, which differs by machine type: budgets need estimates that are not too low. */
const AWS_FACTORS: Prices = {
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

const GCP_FACTORS: Prices = {
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

const AZURE_FACTORS: Prices = {
  eastus: 1,
  eastus2: 1,
  westus2: 1,
  westus3: 1,
  centralus: 1.2,
  northcentralus: 1.15,
  southcentralus: 1.2,
  westus: 1.25,
  canadacentral: 1.15,
  northeurope: 1.15,
  westeurope: 1.25,
  uksouth: 1.25,
  francecentral: 1.25,
  germanywestcentral: 1.25,
  swedencentral: 1.15,
  switzerlandnorth: 1.35,
  southeastasia: 1.3,
  japaneast: 1.35,
  australiaeast: 1.35,
  centralindia: 1.2,
  brazilsouth: 1.7,
}

const listPrice =
  (priceOf: (type: string) => number | undefined, factors: Prices) =>
  (region: string, type: string): number | undefined => {
    const price = priceOf(type)
    const factor = factors[region]
    return price === undefined || factor === undefined ? undefined : price * factor
  }

const awsTypePrice = (type: string): number | undefined => {
  const [family = '', size = ''] = type.split('.')
  const [price, times] = [AWS_PRICES[family], AWS_SIZES[size]]
  return price === undefined || times === undefined ? undefined : price * times
}

const gcpTypePrice = (type: string): number | undefined => {
  const [, family = type, processors = '1'] = /^(.*)-(\d+)$/.exec(type) ?? []
  const price = GCP_PRICES[family]
  return price === undefined ? undefined : price * Number(processors)
}

/** Undefined for types and regions that are not in the tables. Spot machines cost less, never more. */
export const awsPrice = listPrice(awsTypePrice, AWS_FACTORS)
export const azurePrice = listPrice((type) => AZURE_PRICES[type], AZURE_FACTORS)
const gcpRegionPrice = listPrice(gcpTypePrice, GCP_FACTORS)
export const gcpPrice = (zone: string, type: string): number | undefined =>
  gcpRegionPrice(zone.replace(/-[a-z]$/, ''), type)
