import type { OutputStream, RunRecorder } from '@scanfarm/contracts'
import type { DatabaseService, FunctionServices } from '@scanfarm/functions'
import type { Json } from '@scanfarm/language'
import type { Mask, MaskedChunks } from './mask.ts'

/** A recorder that masks secrets before it forwards to another. */
export const maskedRecorder = (inner: RunRecorder, mask: Mask): RunRecorder => {
  if (mask.isEmpty) return inner
  const outputs = new Map<string, Map<OutputStream, MaskedChunks>>()
  const chunksOf = (key: string, stream: OutputStream): MaskedChunks => {
    const streams = outputs.get(key) ?? new Map<OutputStream, MaskedChunks>()
    outputs.set(key, streams)
    const chunks = streams.get(stream) ?? mask.chunks()
    streams.set(stream, chunks)
    return chunks
  }
  const pass = (key: string, stream: OutputStream, chunk: Buffer): void | Promise<void> =>
    chunk.length === 0 ? undefined : inner.output(key, stream, chunk)
  return {
    plan: (total) => inner.plan(total),
    // `Tally` has already masked its reasons.
    tally: (tally) => inner.tally(tally),
    currentPid: (pid) => inner.currentPid(pid),
    stepOpened: (step) => inner.stepOpened({ ...step, command: mask.text(step.command) }),
    output: (key, stream, chunk) => pass(key, stream, chunksOf(key, stream).push(chunk)),
    stepClosed(step, counts) {
      for (const [stream, chunks] of outputs.get(step.key) ?? []) void pass(step.key, stream, chunks.end())
      outputs.delete(step.key)
      const exports = Object.entries(step.exports).map(([name, value]): [string, string] => [
        name,
        mask.text(value),
      ])
      const errorMessage = mask.text(step.errorMessage)
      inner.stepClosed({ ...step, errorMessage, exports: Object.fromEntries(exports) }, counts)
    },
    artifact: (found) =>
      inner.artifact({ ...found, name: mask.text(found.name), description: mask.text(found.description) }),
    event: (event) =>
      inner.event({ ...event, name: mask.text(event.name), data: mask.value(event.data as Json) }),
    log: (level, line) => inner.log(level, mask.text(line)),
  }
}

const rows = (mask: Mask, items: readonly Record<string, Json>[]): Record<string, Json>[] =>
  items.map((item) => mask.value(item) as Record<string, Json>)

const maskedDatabase = (inner: DatabaseService, mask: Mask): DatabaseService => ({
  importAssets: (workspace, assets, step) => inner.importAssets(workspace, rows(mask, assets), step),
  importVulnerabilities: (workspace, items, step) =>
    inner.importVulnerabilities(workspace, rows(mask, items), step),
  importReport: (workspace, format, report, step) =>
    inner.importReport(workspace, format, report && mask.stream(report), step),
  assets: (workspace, filter) => inner.assets(workspace, filter),
  vulnerabilities: (workspace, filter) => inner.vulnerabilities(workspace, filter),
  count: (workspace, counter, add) => inner.count(workspace, counter, add),
  runStatus: (filter) => inner.runStatus(filter),
  report: () => inner.report(),
})

/** Services that mask secrets in what they write to the database. */
export const maskedServices = (services: FunctionServices, mask: Mask): FunctionServices =>
  services.database === undefined || mask.isEmpty
    ? services
    : { ...services, database: maskedDatabase(services.database, mask) }
