/**
 * US dollars an hour for Linux, on demand, without disk and address, in the first region below; list prices of 2025-06-01.
 * `cloud.prices` in the settings is for exact prices.
 */
const AWS_PRICES: Readonly<Record<string, number>> = {
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

const GCP_PRICES: Readonly<Record<string, number>> = {
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

const AZURE_PRICES: Readonly<Record<string, number>> = {
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
const AWS_FACTORS: Readonly<Record<string, number>> = {
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

const GCP_FACTORS: Readonly<Record<string, number>> = {
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

const AZURE_FACTORS: Readonly<Record<string, number>> = {
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
  (prices: Readonly<Record<string, number>>, factors: Readonly<Record<string, number>>) =>
  (region: string, type: string): number | undefined => {
    const price = prices[type]
    const factor = factors[region]
    return price === undefined || factor === undefined ? undefined : price * factor
  }

/** Undefined for types and regions that are not in the tables. Spot machines cost less, never more. */
export const awsPrice = listPrice(AWS_PRICES, AWS_FACTORS)
export const azurePrice = listPrice(AZURE_PRICES, AZURE_FACTORS)
const gcpRegionPrice = listPrice(GCP_PRICES, GCP_FACTORS)
export const gcpPrice = (zone: string, type: string): number | undefined =>
  gcpRegionPrice(zone.replace(/-[a-z]$/, ''), type)
