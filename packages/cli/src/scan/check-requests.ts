import { targetProblem } from '@scanfarm/contracts'
import type { Api } from '../client/api.ts'
import { printJson } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import type { Request } from './request.ts'
import type { Choice } from './scan-options.ts'

interface Known {
  readonly kind: string
  readonly valid: boolean
}

const checkWorkflow = async (api: Api, { name, kind }: Choice, sent: Request): Promise<void> => {
  const params = { path: { name }, query: { json: true } }
  // Without `json` the route answers with YAML, so its type is open.
  const known = (await api.call(({ GET }) => GET('/workflows/{name}', { params }))) as Known
  if (kind !== undefined && known.kind !== kind)
    throw new CliError(EXIT.refused, `"${name}" is a ${known.kind}, not a ${kind}`)
  if (!known.valid)
    throw new CliError(
      EXIT.refused,
      `"${name}" has errors; see: scanfarm workflow lint, and GET /workflows/${name}`,
    )
  const body = sent.params === undefined ? {} : { params: sent.params }
  const { data } = await api.call(({ POST }) =>
    POST('/workflows/{name}/needs', { params: { path: { name } }, body }),
  )
  const [problem] = data.problems
  if (problem !== undefined) throw new CliError(EXIT.refused, `${problem.path.slice(1)}: ${problem.message}`)
}

/** Checks the workflows and targets of the requests and prints the requests without sending them. */
export const checkRequests = async (
  terminal: Terminal,
  api: Api,
  choices: readonly Choice[],
  requests: readonly Request[],
): Promise<void> => {
  const [first = {}] = requests
  for (const choice of choices) await checkWorkflow(api, choice, first)
  const { target, targets = [] } = first
  for (const one of target === undefined ? targets : [target]) {
    const problem = targetProblem(one)
    if (problem !== undefined) throw new CliError(EXIT.usage, `${one}: ${problem}`)
  }
  printJson(terminal, requests.length === 1 ? requests[0] : requests)
  terminal.err.write('scanfarm: dry run: nothing was sent\n')
}
