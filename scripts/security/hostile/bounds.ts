import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../../..')

const LIMITS = 'scripts/security/attacks/limits.attack.ts'
const HTTP = 'scripts/security/attacks/http.attack.ts'
const ISOLATION = 'scripts/security/attacks/isolation.attack.ts'

/**
 * The file that tries each row of docs/limits.md, by the first words of the row. Rows that only a workflow with hundreds of
 * megabytes, a lost database or a thread inside of a program can reach are tried by the tests of their package.
 */
export const TRIED_BY: Readonly<Record<string, string>> = {
  'request line and headers': HTTP,
  'head of a request': HTTP,
  'JSON body': LIMITS,
  'nesting of JSON': HTTP,
  'body of `POST /webhooks/{name}`': HTTP,
  'bodies of requests without a token': HTTP,
  'bodies of all other routes': HTTP,
  'a body that does not move': HTTP,
  'rate of a body': 'packages/server/test/http/slow-bodies.test.ts',
  'a whole upload': 'packages/server/test/http/slow-bodies.test.ts',
  'body that no route reads': 'packages/server/test/http/slow-bodies.test.ts',
  'a client that does not take its answer': 'packages/server/test/http/slow-bodies.test.ts',
  connections: 'packages/server/test/http/slow-bodies.test.ts',
  "connections of a worker's health server": 'packages/server/test/http/slow-bodies.test.ts',
  'failed logins': 'packages/server/test/access/login.test.ts',
  'password checks of a master': 'packages/server/test/access/login.test.ts',
  'probes of `/health/ready`': 'packages/server/test/routes/farm.test.ts',
  'params of a run': LIMITS,
  'a database statement': 'packages/store/test/statement-timeout.test.ts',
  'a statement without an answer': 'packages/store/test/statement-timeout.test.ts',
  'steps of one attempt': 'packages/executor/test/journal.test.ts',
  'row of a step': 'packages/executor/test/journal.test.ts',
  'exports in the row': 'packages/executor/test/journal.test.ts',
  'output of a step': LIMITS,
  'log of a run': 'packages/executor/test/journal.test.ts',
  'events of one attempt': 'packages/executor/test/journal.test.ts',
  'artifacts of one attempt': 'packages/executor/test/journal.test.ts',
  'what waits to be written': 'packages/executor/test/journal.test.ts',
  'one write of a worker': 'packages/store/test/group-commit.test.ts',
  'findings and assets that a step saves': 'packages/executor/test/services.test.ts',
  'findings and assets that a function reads': 'packages/executor/test/services.test.ts',
  'import of a report': 'packages/executor/test/services.test.ts',
  'workers lost under a run': 'packages/worker/test/quarantine.test.ts',
  'a claim that fails': 'packages/store/test/claim-isolation.test.ts',
  'data of an event from `POST': LIMITS,
  'data of an event from `generate_event`': 'packages/executor/test/services.test.ts',
  'topic, source and data type': 'packages/executor/test/services.test.ts',
  'events of one `generate_event_from_file`': 'packages/executor/test/services.test.ts',
  'data of an event about': 'packages/store/test/event-bounds.test.ts',
  'data of any entry': 'packages/store/test/event-bounds.test.ts',
  'records of one page': LIMITS,
  'steps and artifacts of a run': 'packages/store/test/pages.test.ts',
  'runs in `GET /jobs/{id}`': 'packages/store/test/pages.test.ts',
  'export of vulnerabilities': 'packages/store/test/pages.test.ts',
  'event streams': LIMITS,
  'bytes waiting for the reader': LIMITS,
  'reader of any answer': 'packages/server/test/http/slow-bodies.test.ts',
  'text in a JSON body': 'packages/server/test/routes/hostile-values.test.ts',
  'topic or glob': 'packages/server/test/routes/hostile-values.test.ts',
  'text of a command with values': 'packages/workflow/test/interpreters.test.ts',
  'text of a call that would be code': 'packages/workflow/test/shell-functions.test.ts',
  'readings of commands': 'packages/workflow/test/interpreters.test.ts',
  "search of a workflow's commands": 'packages/workflow/test/interpreters.test.ts',
  'workflow file': LIMITS,
  'values of a file': LIMITS,
  'entries of one list': LIMITS,
  'one expression': LIMITS,
  'time and memory to check': 'packages/server/test/routes/workflows.test.ts',
  'files of requests that wait': 'packages/server/test/routes/workflows.test.ts',
  'problems of one file': LIMITS,
  'parents of a workflow': 'packages/workflow/test/library.test.ts',
  'a flow with its modules': 'packages/workflow/test/library.test.ts',
  'file that a workflow names': ISOLATION,
  'text that a function reads': 'packages/workflow/test/large-files.test.ts',
  'lines or paths': 'packages/workflow/test/large-files.test.ts',
  'search of `glob`': 'packages/workflow/test/confined.test.ts',
  'regular expression of a function': LIMITS,
  'text that a regular expression': LIMITS,
  'line of a file': 'packages/workflow/test/large-files.test.ts',
  'different lines': 'packages/workflow/test/large-files.test.ts',
  'text that `replace`': 'packages/workflow/test/bounds.test.ts',
  'parts of `split`': 'packages/workflow/test/bounds.test.ts',
  'columns of `jsonl_to_csv`': 'packages/workflow/test/bounds.test.ts',
  'Markdown table': 'packages/workflow/test/bounds.test.ts',
  'template of a report': 'packages/workflow/test/bounds.test.ts',
  'text that a template makes': 'packages/workflow/test/bounds.test.ts',
  'loops of a template': LIMITS,
  'parts that the filter': 'packages/workflow/test/bounds.test.ts',
  'processes and threads of the runs': 'packages/worker/test/isolation.test.ts',
  'open files of a command': 'packages/worker/test/isolation.test.ts',
  'core dumps': 'packages/worker/test/isolation.test.ts',
  'workspaces with runs at the same time': 'packages/executor/test/user-pool.test.ts',
  'tries to kill the processes': 'packages/runners/test/purge.test.ts',
  'JSON of the arguments': 'packages/workflow/test/bounds.test.ts',
  'reading a report of more than 64 KiB': 'packages/findings/test/import.test.ts',
  'imports of a server': 'packages/server/test/routes/vulnerabilities.test.ts',
}

/** First cells of all rows of docs/limits.md. */
export const documentedBounds = (): string[] =>
  [...readFileSync(join(ROOT, 'docs/limits.md'), 'utf8').matchAll(/^\| (.+?) \| /gm)]
    .map(([, input = '']) => input)
    .filter((input) => input !== 'input' && !input.startsWith('---'))
