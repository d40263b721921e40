import type { Migration } from 'kysely/migration'
import * as runs from './0001-runs.ts'
import * as journal from './0002-journal.ts'
import * as access from './0003-access.ts'
import * as lifecycle from './0004-lifecycle.ts'
import * as submit from './0005-submit.ts'
import * as worker from './0006-worker.ts'
import * as recovery from './0007-recovery.ts'
import * as workerRole from './0008-worker-role.ts'
import * as findings from './0009-findings.ts'
import * as triggers from './0010-triggers.ts'
import * as scans from './0011-scans.ts'
import * as webhooks from './0012-webhooks.ts'
import * as liveAttempts from './0013-live-attempts.ts'
import * as cloud from './0014-cloud.ts'
import * as cloudRuns from './0015-cloud-runs.ts'
import * as assetWords from './0016-asset-words.ts'
import * as dedupeSkipped from './0017-dedupe-skipped.ts'
import * as claims from './0018-claims.ts'
import * as quarantine from './0019-quarantine.ts'
import * as boundedReads from './0020-bounded-reads.ts'
import * as loginLimits from './0022-login-limits.ts'
import * as eventData from './0025-event-data.ts'
import * as eventIdentity from './0026-event-identity.ts'
import * as orgs from './0027-orgs.ts'
import * as history from './0032-history.ts'
import * as machineLocks from './0033-machine-locks.ts'
import * as runOutcome from './0034-run-outcome.ts'
import * as runners from './0036-runners.ts'
import * as cancelsAndBudget from './0038-cancels-and-budget.ts'
import * as storage from './0037-storage.ts'
import * as findingPlaces from './0035-finding-places.ts'

/** Every migration by name, in order. A migration that was released never changes: write the next one. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-runs': runs,
  '0002-journal': journal,
  '0003-access': access,
  '0004-lifecycle': lifecycle,
  '0005-submit': submit,
  '0006-worker': worker,
  '0007-recovery': recovery,
  '0008-worker-role': workerRole,
  '0009-findings': findings,
  '0010-triggers': triggers,
  '0011-scans': scans,
  '0012-webhooks': webhooks,
  '0013-live-attempts': liveAttempts,
  '0014-cloud': cloud,
  '0015-cloud-runs': cloudRuns,
  '0016-asset-words': assetWords,
  '0017-dedupe-skipped': dedupeSkipped,
  '0018-claims': claims,
  '0019-quarantine': quarantine,
  '0020-bounded-reads': boundedReads,
  '0022-login-limits': loginLimits,
  '0025-event-data': eventData,
  '0026-event-identity': eventIdentity,
  '0027-orgs': orgs,
  '0032-history': history,
  '0033-machine-locks': machineLocks,
  '0034-run-outcome': runOutcome,
  '0036-runners': runners,
  '0038-cancels-and-budget': cancelsAndBudget,
  '0037-storage': storage,
  '0035-finding-places': findingPlaces,
}
