import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { expect } from '@jest/globals'
import { NOTHING_IMPORTED, NOTHING_REPORTED } from '@scanfarm/contracts'
import { type FunctionServices, FUNCTIONS } from '@scanfarm/functions'

/** Parameters that are paths, wherever they occur. */
const PATHS = new Set([
  'path',
  'source',
  'dest',
  'folder',
  'archive',
  'manifest',
  'template',
  'reached',
  'scanned',
  'a',
  'b',
])

/** Where a name means something else than elsewhere. */
const ELSEWHERE: Readonly<Record<string, boolean>> = {
  'get_types.text': true,
  'glob.pattern': true,
  'go_getter_with_sshkey.key': true,
  'ssh_exec.key': true,
  'ssh_rsync.key': true,
  'is_compress.path': false,
  'is_archive.path': false,
  'pick_valid.a': false,
  'pick_valid.b': false,
  'generate_event.source': false,
  'generate_event_from_file.source': false,
  'db_import_port_assets.source': false,
  'db_import_custom_asset.source': false,
  'db_import_vigolium.source': false,
  'git_clone_subfolder.folder': false,
  'ssh_rsync.dest': false,
}

/** What the other parameters get. */
const PLAIN: Readonly<Record<string, string>> = {
  root: '/src',
  pattern: '.', keep: 'none', text: 'a', lines: '1', delimiter: ',', field: '1', characters: 'x', part: 'x', target: '127.0.0.1',
  value: 'x', command: 'true', code: '1', name: 'x', '…': 'x', params: '', length: '1', password: '', keepalive: '', message: 'x',
  filter: '.', fields: 'a', renames: 'a:b', flags: '-sL', url: 'http://127.0.0.1:1/x', repository: 'https://127.0.0.1:1/x',
  expression: 's/a/b/', workspace: 'example.com', format: '%d', 'db_import_report.format': 'jsonl', mode: '', position: '1', method: 'GET', headers: '', body: '', host: '127.0.0.1',
  topic: 't', data_type: 'x', data: 'x', type: 'x', json: '{}', status: '', state: 'open', severity: '', asset: '', uuid: 'x', channel: '',
  caption: 'x', key: 'k', prefix: 'up', minutes: '1', depth: '1', '"role:text"': 'x', user: '', port: '1', keys: 'x', list: '',
  old: 'x', new: 'y', seconds: '0', source: 'x', folder: 'x', dest: 'x', path: 'x', a: 'x', b: 'x',
} // prettier-ignore

/** These put a file in the place of what is there, or take it away: a link at the end is itself what they work on. */
export const WORKS_ON_LINK = new Set([
  'remove_file.path', 'remove_folder.path', 'rm_rf.path', 'move_file.dest', 'cdn_download.path', 'chunk_file.manifest',
  ...['grep_string_to_file', 'grep_regex_to_file', 'cut_to_file', 'jsonl_to_csv', 'csv_to_jsonl', 'jsonl_filter', 'jsonl_unique',
    'jsonl_rename_key', 'nmap_to_jsonl', 'nmap_reached', 'answering_hosts', 'parse_url_file', 'interesting_urls', 'diff_unix', 'db_asset_diff_to_file',
    'db_vuln_diff_to_file'].map((name) => `${name}.dest`),
]) // prettier-ignore

export interface Attack {
  /** `read_file.path` */
  readonly what: string
  /** The call with this path there. */
  readonly call: (path: string) => string
}

/** Each parameter that is a path, of every function. */
export const attacks = (): Attack[] =>
  [...new Set(FUNCTIONS.values())].flatMap(({ name, signature, refused }) => {
    const params = signature.split(',').map((param) => param.trim().replace(/\?$/, ''))
    if (refused || signature === '') return []
    const isPath = (param: string): boolean => ELSEWHERE[`${name}.${param}`] ?? PATHS.has(param)
    const unknown = params.filter((param) => !isPath(param) && !Object.hasOwn(PLAIN, param))
    // A parameter that is new here: say in PATHS, ELSEWHERE or PLAIN whether it is a path.
    expect({ name, unknown }).toEqual({ name, unknown: [] })
    return params.filter(isPath).map((attacked) => ({
      what: `${name}.${attacked}`,
      call: (path) => {
        const ending = attacked === 'archive' ? '.zip' : attacked === 'pattern' ? '/*' : ''
        const args = params.map((param) => {
          if (param === attacked) return `${path}${ending}`
          if (!isPath(param)) return PLAIN[`${name}.${param}`] ?? PLAIN[param] ?? ''
          return param === 'dest' || param === 'manifest' ? 'new' : 'mine'
        })
        return `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`
      },
    }))
  })

/** Services that keep what they are given. */
export const services = (found: string[]): FunctionServices => {
  const keep = (rows: unknown) => {
    found.push(JSON.stringify(rows))
    return NOTHING_IMPORTED
  }
  return {
    database: {
      importAssets: async (_workspace, rows) => keep(rows),
      importVulnerabilities: async (_workspace, rows) => keep(rows),
      importReport: async (_workspace, _format, report) => keep(await Array.fromAsync(report ?? [])),
      assets: async () => [{ a: 1 }],
      vulnerabilities: async () => [{ a: 1 }],
      count: async (_workspace, _name, add) => (add === 'reset' ? 0 : add),
      runStatus: async () => [],
      report: async () => NOTHING_REPORTED,
    },
    notify: { send: async ({ file }) => void keep(file && readFileSync(file.path, 'utf8')) },
    storage: {
      upload: async (file) => void keep(await file.readFile('utf8')),
      download: async (_key, write) => await write(Readable.from(['object'])),
      remove: async () => undefined,
      stat: async () => undefined,
      list: async () => [{ key: 'up/f', size: 1, modified: '' }],
      presign: async () => '',
    },
  }
}
