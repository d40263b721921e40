import { httpRequest, answerJson, type HttpQuestion } from '@scanfarm/functions'
import { fromJson, parseDuration } from '@scanfarm/language'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { renderPlain } from '../step/render.ts'
import { show } from '../step/row.ts'
import type { StepEnd } from '../step/step-end.ts'

const TIMEOUT_MS = 30_000

export const renderHttp = ({ step, scope }: StepContext): HttpQuestion => {
  const plain = (text: string) => renderPlain(text, scope)
  return {
    url: plain(step.url ?? '').trim(),
    method:
      plain(step.method ?? 'GET')
        .trim()
        .toUpperCase() || 'GET',
    headers: Object.fromEntries(
      Object.entries(step.headers ?? {}).map(([name, text]) => [plain(name), plain(text)]),
    ),
    body: plain(step.request_body ?? ''),
    timeoutMs: parseDuration(plain(step.timeout ?? '')) ?? TIMEOUT_MS,
  }
}

/** Sends one request. Network errors and 5xx statuses are retried; any status below 500 is a success. */
export const runHttp = async (at: StepContext, call: HttpQuestion): Promise<StepEnd> => {
  const { run } = at.module
  const answer = await httpRequest(call, {
    signal: signalOf(at),
    now: () => run.ports.monotonic(),
    allowPrivate: run.input.services?.http?.allowPrivate,
    permit: run.input.services?.permit,
  })
  if (signalOf(at).aborted) return interruption(at)
  const exports = {
    [`${at.step.name.replaceAll(/[^\w]/g, '_')}_http_resp`]: fromJson(answerJson(answer, 'request failed')),
  }
  const output = answer.body
  await show(at, output === '' || output.endsWith('\n') ? output : `${output}\n`)
  if (answer.error !== '') return { kind: 'failed', error: `HTTP request failed: ${answer.error}`, output }
  if (answer.status >= 500) return { kind: 'failed', error: `HTTP status ${answer.status}`, output }
  return { kind: 'done', stdout: output, output, exports }
}
