import type { DatabaseService, FunctionServices } from '../functions/services.ts'
import type { Json } from '../model.ts'
import type { Mask } from './mask.ts'

const rows = (mask: Mask, items: readonly Record<string, Json>[]): Record<string, Json>[] =>
  items.map((item) => mask.value(item) as Record<string, Json>)

const maskedDatabase = (inner: DatabaseService, mask: Mask): DatabaseService => ({
  importAssets: (workspace, assets, step) => inner.importAssets(workspace, rows(mask, assets), step),
  importVulnerabilities: (workspace, items, step) =>
    inner.importVulnerabilities(workspace, rows(mask, items), step),
  importReport: (workspace, format, report, step) =>
    inner.importReport(workspace, format, mask.stream(report), step),
  assets: (workspace, filter) => inner.assets(workspace, filter),
  vulnerabilities: (workspace, filter) => inner.vulnerabilities(workspace, filter),
  count: (workspace, counter, add) => inner.count(workspace, counter, add),
  runStatus: (filter) => inner.runStatus(filter),
})

/** Services whose database gets no secret. */
export const maskedServices = (services: FunctionServices, mask: Mask): FunctionServices =>
  services.database === undefined || mask.isEmpty
    ? services
    : { ...services, database: maskedDatabase(services.database, mask) }
