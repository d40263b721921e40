/** US dollars an hour, Linux, on demand, East US, without disk and address; about what it was on 2025-06-01. `cloud.prices` is for exact ones. */
const ON_DEMAND: Readonly<Record<string, number>> = {
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

/** How much dearer a region is at most, as series differ: the figures are for budgets, which had better be too high. */
const FACTORS: Readonly<Record<string, number>> = {
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

/** Undefined for types and regions that are not in the tables. Spot machines cost less, never more. */
export function onDemandPrice(region: string, type: string): number | undefined {
  const price = ON_DEMAND[type]
  const factor = FACTORS[region]
  return price === undefined || factor === undefined ? undefined : price * factor
}
