import type { Client } from '@scanfarm/cli/testing'
import type { Lab, Planted } from './lab.ts'

export interface FindingRow {
  readonly id: number
  readonly vuln_info: string
  readonly severity: string
  readonly asset_value: string
  readonly tags?: readonly string[]
  readonly seen: string
  readonly verdict: string
}

interface AssetRow {
  readonly asset_type: string
  readonly asset_value: string
  readonly url: string
  readonly title: string
  readonly technologies?: readonly string[]
}

const TOOLS = ['content', 'nmap', 'sslscan', 'testssl', 'wapiti']

export const findingsIn = (client: Client, workspace: string): Promise<FindingRow[]> =>
  client.all<FindingRow>(`/vulnerabilities?workspace=${workspace}&state=open,gone`)

/** What a workspace has, in the terms of the list of planted mistakes, each once. */
export async function foundIn(client: Client, workspace: string, lab: Lab): Promise<Planted[]> {
  const services = new Map([...lab.places].map(([name, { host }]) => [host, name]))
  const serviceOf = (place: string): string => {
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

const assetKeys = (row: AssetRow, serviceOf: (place: string) => string): Planted[] => {
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

const moduleOf = ({ tool, severity }: Planted): string => {
  if (tool === 'nmap') return severity === undefined ? 'ports' : 'known-weaknesses'
  if (tool === 'ffuf' || tool === 'content') return 'content'
  return tool === 'whatweb' ? 'fingerprint' : tool === 'wapiti' ? 'web-weaknesses' : 'tls'
}

const isSevere = ({ severity }: Planted): boolean => severity === 'high' || severity === 'critical'

export interface ModuleScore {
  readonly module: string
  readonly planted: number
  readonly found: number
  /** What is not planted: all of it, and what is high or critical. */
  readonly wrong: number
  readonly severe: number
}

export function scoresOfModules(planted: readonly Planted[], found: readonly Planted[]): ModuleScore[] {
  const expected = new Set(planted.map(nameOf))
  const seen = new Set(found.map(nameOf))
  return [...new Set([...planted, ...found].map(moduleOf))].toSorted().map((module) => {
    const own = planted.filter((one) => moduleOf(one) === module)
    const wrong = found.filter((one) => moduleOf(one) === module && !expected.has(nameOf(one)))
    return {
      module,
      planted: own.length,
      found: own.filter((one) => seen.has(nameOf(one))).length,
      wrong: wrong.length,
      severe: wrong.filter(isSevere).length,
    }
  })
}

/** The page of the documentation with these scores. */
export const pageOfScores = (scores: readonly ModuleScore[], weak: number, clean: number): string => {
  const rows = scores.map(
    ({ module, planted, found, wrong, severe }) =>
      `| \`${module}\` | ${planted} | ${found} | ${Math.floor((100 * found) / planted)} % | ${wrong} | ${severe} |`,
  )
  return `# What baseline finds

Written by \`npm run test:tools -- --write\`: one run of the flow \`baseline\` with ${weak} services that have weaknesses and
${clean} that have none, with the versions of Debian 12. Services, technologies and well-known files count too.

| module | planted | found | of them | false | false, high or critical |
| --- | ---: | ---: | ---: | ---: | ---: |
${rows.join('\n')}
`
}
