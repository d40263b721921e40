import type { Client } from '@scanfarm/cli/testing'
import type { Lab, ServiceName } from './lab.ts'
import type { Planted } from './planted.ts'

export interface FindingRow {
  readonly vuln_info: string
  readonly severity: string
  readonly asset_value: string
  readonly tags?: readonly string[]
  readonly state: string
}

interface AssetRow {
  readonly asset_type: string
  readonly asset_value: string
  readonly url: string
  readonly title: string
  readonly technologies?: readonly string[]
}

const TOOLS = ['nmap', 'sslscan', 'testssl', 'wapiti']

export const findingsIn = (client: Client, workspace: string): Promise<FindingRow[]> =>
  client.all<FindingRow>(`/vulnerabilities?workspace=${workspace}&state=open,gone`)

/** What a workspace has, in the terms of the list of planted mistakes, each once. */
export async function foundIn(client: Client, workspace: string, lab: Lab): Promise<Planted[]> {
  const services = new Map(Object.entries(lab.places).map(([name, { host }]) => [host, name as ServiceName]))
  const serviceOf = (place: string): ServiceName => {
    const [host = ''] = /127(\.\d+){3}/.exec(place) ?? []
    const service = services.get(host)
    if (service === undefined) throw new Error(`${place} is no place of the lab`)
    return service
  }
  const findings = (await findingsIn(client, workspace)).map((row) => ({
    tool: row.tags?.find((tag) => TOOLS.includes(tag)) ?? 'unknown',
    service: serviceOf(row.asset_value),
    key: row.vuln_info,
    severity: row.severity,
  }))
  const assets = await client.all<AssetRow>(`/assets?workspace=${workspace}`)
  const found = [...findings, ...assets.flatMap((row) => assetKeys(row, serviceOf))]
  return [...new Map(found.map((one) => [nameOf(one), one])).values()]
}

const assetKeys = (row: AssetRow, serviceOf: (place: string) => ServiceName): Planted[] => {
  const key = (tool: string, text: string): Planted => ({
    tool,
    service: serviceOf(row.asset_value),
    key: text,
  })
  switch (row.asset_type) {
    case 'port':
      return [key('nmap', `service ${row.title.split(' ')[0] ?? ''}`)]
    case 'http':
      return (row.technologies ?? []).map((name) => key('whatweb', `technology ${name.split(':')[0] ?? ''}`))
    case 'content':
      return [key('ffuf', `content ${new URL(row.url).pathname}`)]
    default:
      return []
  }
}

export const nameOf = ({ tool, service, key, severity }: Planted): string =>
  [tool, service, key, severity].filter((word) => word !== undefined).join(' ')

export interface Score {
  readonly tool: string
  readonly planted: number
  readonly found: number
  readonly missed: readonly string[]
  readonly wrong: readonly string[]
  readonly precision: number
  readonly recall: number
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole)

/** The scores of each tool, and of all tools as the last row. */
export function compare(planted: readonly Planted[], found: readonly Planted[]): Score[] {
  const score = (tool: string, belongs: (one: Planted) => boolean): Score => {
    const expected = new Set(planted.filter(belongs).map(nameOf))
    const seen = new Set(found.filter(belongs).map(nameOf))
    const right = [...seen].filter((name) => expected.has(name)).length
    return {
      tool,
      planted: expected.size,
      found: seen.size,
      missed: [...expected].filter((name) => !seen.has(name)),
      wrong: [...seen].filter((name) => !expected.has(name)),
      precision: ratio(right, seen.size),
      recall: ratio(right, expected.size),
    }
  }
  const tools = [...new Set([...planted, ...found].map(({ tool }) => tool))].toSorted()
  return [...tools.map((tool) => score(tool, (one) => one.tool === tool)), score('all', () => true)]
}

export const tableOf = (scores: readonly Score[]): string => {
  const rows = scores.map(({ tool, planted, found, precision, recall }) => [
    tool,
    String(planted),
    String(found),
    precision.toFixed(2),
    recall.toFixed(2),
  ])
  const lines = [['tool', 'planted', 'found', 'precision', 'recall'], ...rows].map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(10) : cell.padStart(10))).join(''),
  )
  const details = scores
    .filter(({ tool }) => tool !== 'all')
    .flatMap(({ missed, wrong }) => [
      ...missed.map((name) => `missed: ${name}`),
      ...wrong.map((name) => `wrong:  ${name}`),
    ])
  return [...lines, ...details].join('\n')
}
