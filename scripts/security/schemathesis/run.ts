import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const EXAMPLES = 8
const WORKERS = 2
const CONFIG = join(import.meta.dirname, 'schemathesis.toml')
const KILL_MS = 540_000

/**
 * The checks of each response. Two checks of schemathesis are left out: `unsupported_method`, because every path accepts
 * OPTIONS, and `positive_data_acceptance`, because the document cannot state which ids exist.
 */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'ignored_auth',
]

export interface FuzzResult {
  readonly passed: boolean
  readonly output: string
  /** The number of requests. */
  readonly requests: number
}

/** Sends requests that follow or violate the OpenAPI document of the server. They are the same each time. */
export async function fuzz(program: string, url: string, token: string, folder: string): Promise<FuzzResult> {
  const args = [
    ['--config-file', CONFIG, 'run', `${url}/api/openapi.json`, '--url', `${url}/api`],
    ['--header', `Authorization: Bearer ${token}`],
    ['--checks', CHECKS.join(',')],
    ['--phases', 'examples,coverage,fuzzing', '--mode', 'all'],
    ['--max-examples', String(EXAMPLES), '--generation-deterministic'],
    ['--workers', String(WORKERS), '--request-timeout', '20', '--no-shrink', '--continue-on-failure'],
    // A stream of events has no end, and a request that removes tokens could remove this one.
    ['--exclude-path', '/events/stream', '--exclude-path', '/tokens/{id}'],
    ['--warnings', 'off', '--output-sanitize', 'false'],
  ].flat()
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  clearTimeout(timer)
  return {
    passed: code === 0,
    output: (output + errors).replaceAll(/^(.{4000}).*$/gm, '$1…'),
    requests: Number(/(\d+) generated/.exec(output)?.[1] ?? 0),
  }
}
