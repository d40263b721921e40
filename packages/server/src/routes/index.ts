import type { Route } from '../http/route.ts'
import { listAudit } from './access/audit.ts'
import { login, logout } from './access/login.ts'
import {
  createSession,
  createSessionLink,
  endOwnSession,
  endSession,
  listSessions,
  readSession,
} from './access/sessions.ts'
import { listSavedFilters, removeSavedFilter, saveFilter } from './access/saved-filters.ts'
import { createToken, listTokens, removeToken } from './access/tokens.ts'
import { changeUser, createUser, getUser, listUsers, removeUser } from './access/users.ts'
import { listAllArtifacts, readWorkspaceArtifact } from './artifacts/artifacts.ts'
import { readWorkspaceFile } from './artifacts/linked-files.ts'
import { estimateCost } from '../cloud/estimate-route.ts'
import { createInfra, destroyInfra, getInfra, getInfraStatus, listInfras } from '../cloud/infra-routes.ts'
import { listProviders, validateProvider } from '../cloud/provider-routes.ts'
import { emitEvent } from './events/emit-event.ts'
import { eventReceiverStatus, eventReceiverWorkflows } from './events/event-receiver.ts'
import { listEventLogs, streamEvents } from './events/read-events.ts'
import { listTriggers, testTriggers } from './events/triggers.ts'
import { documentation } from './farm/documentation.ts'
import { health, metrics, ready, serverInfo } from './farm/farm.ts'
import { listSettings, reloadSettings, settingsAsYaml, settingsStatus } from './farm/settings.ts'
import { readQueue, readQueuePlace } from './farm/queue.ts'
import { listShares, setShare } from './farm/shares.ts'
import { readOverview, readSeries } from './farm/series.ts'
import { getStats, listTables } from './farm/stats.ts'
import { drainWorker, getWorker, listWorkers, registryInfo, resumeWorker } from './farm/workers.ts'
import { assetStats, countAssetFacets, getAsset, listAssets } from './findings/assets.ts'
import { changeVulnerability } from './findings/decisions.ts'
import { listEnrichments, loadEnrichment } from './findings/enrichment.ts'
import { getHost } from './findings/hosts.ts'
import { diffAssets, diffRuns, diffVulnerabilities } from './findings/diff.ts'
import { changeVulnerabilities, countVulnerabilityFacets } from './findings/triage.ts'
import {
  addFindingRule,
  changeFindingRule,
  getFindingRule,
  listFindingRules,
  previewFindingRule,
  removeFindingRule,
} from './findings/rules.ts'
import { exportVulnerabilities, importVulnerabilities } from './findings/transfer.ts'
import {
  createVulnerability,
  getVulnerability,
  groupVulnerabilities,
  listVulnerabilities,
  removeVulnerability,
  summariseVulnerabilities,
} from './findings/vulnerabilities.ts'
import { chatCompletion, createEmbeddings } from './language-model.ts'
import { cancelRun } from './runs/cancel-run.ts'
import { getJobChanges, listNights } from './nights/nights.ts'
import { reportJob, reportSchedule, reportWorkspace } from './reports/reports.ts'
import { createRuns } from './runs/create-runs.ts'
import { getJobFailures, getJobProgress, getJobStrip, getJobSummary, listJobs } from './runs/job-views.ts'
import { cancelJob, changeJob, getJob } from './runs/jobs.ts'
import { getRun, listRuns } from './runs/read-runs.ts'
import { duplicateRun, startRun } from './runs/restart-run.ts'
import { cancelRuns, retryJob, retryRuns } from './runs/retry.ts'
import { listArtifacts, listAttempts, listSteps, readArtifact } from './runs/run-parts.ts'
import { readRunLog, readStepLog } from './runs/logs/read-logs.ts'
import { listStepResults } from './runs/step-results.ts'
import { createTask, getTask, listTasks } from './runs/tasks.ts'
import { uploadFile } from './runs/upload-targets.ts'
import {
  changeSchedule,
  createSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
  listSchedules,
  removeSchedule,
  triggerSchedule,
} from './schedules/schedules.ts'
import { addNeverScan, importNeverScan, listNeverScan, removeNeverScan } from './scopes/never-scan.ts'
import { listJobLeftOut, listJobRefusals } from './scopes/refusals.ts'
import { findTraffic } from './scopes/traffic.ts'
import { getLimits, setLimits } from './scopes/limits.ts'
import { addScope, changeScope, checkScope, getScope, listScopes, removeScope } from './scopes/scopes.ts'
import {
  agentChat,
  clearTable,
  getWebhookRunTrigger,
  installFromRegistry,
  listAssetDiffs,
  listVulnerabilityDiffs,
  listWebhookRuns,
  postWebhookRunTrigger,
} from './unsupported.ts'
import {
  createIncomingWebhook,
  listIncomingWebhooks,
  receiveWebhook,
  removeIncomingWebhook,
} from './webhooks/incoming-webhooks.ts'
import {
  changeSubscription,
  createSubscription,
  listDeliveries,
  listSubscriptions,
  redeliver,
  removeSubscription,
  testSubscription,
} from './webhooks/webhook-subscriptions.ts'
import { evaluateFunction, functionList } from './workflows/functions.ts'
import { uploadWorkflow } from './workflows/upload-workflow.ts'
import { getWorkflowGraph } from './workflows/workflow-graph.ts'
import { checkWorkflowNeeds } from './workflows/workflow-needs.ts'
import { lintWorkflow, workflowSchema } from './workflows/workflow-language.ts'
import { getWorkflow, listWorkflows, listWorkflowTags, refreshWorkflows } from './workflows/workflows.ts'
import { changeOrg, createOrg, getOrg, getOrgStats, listOrgs, removeOrg } from './workspaces/orgs.ts'
import {
  downloadSnapshot,
  exportSnapshot,
  importSnapshot,
  listSnapshots,
  removeSnapshot,
} from './workspaces/snapshots.ts'
import { listWorkspaceNames, listWorkspaces } from './workspaces/workspaces.ts'

/** All endpoints, in the order of the OpenAPI document. */
export const apiRoutes = (): Route[] => {
  const routes = [
    createRuns,
    listRuns,
    getRun,
    cancelRun,
    listSteps,
    listAttempts,
    readRunLog,
    readStepLog,
    diffRuns,
    listArtifacts,
    readArtifact,
    duplicateRun,
    startRun,
    listStepResults,
    uploadFile,
    listTasks,
    getTask,
    createTask,
    listJobs,
    getJob,
    getJobSummary,
    getJobChanges,
    reportJob,
    reportSchedule,
    reportWorkspace,
    getJobStrip,
    getJobFailures,
    getJobProgress,
    changeJob,
    retryJob,
    cancelRuns,
    retryRuns,
    cancelJob,
    createInfra,
    listInfras,
    getInfra,
    getInfraStatus,
    destroyInfra,
    listProviders,
    validateProvider,
    estimateCost,
    listWorkflows,
    listWorkflowTags,
    refreshWorkflows,
    lintWorkflow,
    getWorkflow,
    getWorkflowGraph,
    checkWorkflowNeeds,
    uploadWorkflow,
    workflowSchema,
    functionList,
    evaluateFunction,
    listVulnerabilities,
    groupVulnerabilities,
    summariseVulnerabilities,
    exportVulnerabilities,
    countVulnerabilityFacets,
    changeVulnerabilities,
    diffVulnerabilities,
    listVulnerabilityDiffs,
    importVulnerabilities,
    createVulnerability,
    getVulnerability,
    changeVulnerability,
    removeVulnerability,
    listEnrichments,
    loadEnrichment,
    listFindingRules,
    previewFindingRule,
    addFindingRule,
    getFindingRule,
    changeFindingRule,
    removeFindingRule,
    listAssets,
    diffAssets,
    listAssetDiffs,
    countAssetFacets,
    getAsset,
    getHost,
    assetStats,
    listWorkspaces,
    listWorkspaceNames,
    listAllArtifacts,
    readWorkspaceArtifact,
    readWorkspaceFile,
    listSnapshots,
    exportSnapshot,
    importSnapshot,
    removeSnapshot,
    downloadSnapshot,
    listScopes,
    addScope,
    getScope,
    changeScope,
    removeScope,
    checkScope,
    getLimits,
    setLimits,
    findTraffic,
    listNeverScan,
    addNeverScan,
    importNeverScan,
    removeNeverScan,
    listJobRefusals,
    listJobLeftOut,
    listOrgs,
    createOrg,
    getOrg,
    changeOrg,
    removeOrg,
    getOrgStats,
    listEventLogs,
    emitEvent,
    streamEvents,
    eventReceiverStatus,
    eventReceiverWorkflows,
    listTriggers,
    testTriggers,
    listNights,
    listSchedules,
    createSchedule,
    getSchedule,
    changeSchedule,
    removeSchedule,
    enableSchedule,
    disableSchedule,
    triggerSchedule,
    receiveWebhook,
    createIncomingWebhook,
    listIncomingWebhooks,
    removeIncomingWebhook,
    createSubscription,
    listSubscriptions,
    changeSubscription,
    removeSubscription,
    listDeliveries,
    redeliver,
    testSubscription,
    listWebhookRuns,
    getWebhookRunTrigger,
    postWebhookRunTrigger,
    listWorkers,
    getWorker,
    drainWorker,
    resumeWorker,
    login,
    logout,
    createSession,
    readSession,
    endSession,
    createSessionLink,
    listSessions,
    endOwnSession,
    listSavedFilters,
    saveFilter,
    removeSavedFilter,
    createToken,
    listTokens,
    removeToken,
    createUser,
    listUsers,
    getUser,
    changeUser,
    removeUser,
    listAudit,
    getStats,
    readOverview,
    readSeries,
    readQueue,
    listShares,
    setShare,
    readQueuePlace,
    health,
    ready,
    serverInfo,
    metrics,
    listSettings,
    settingsAsYaml,
    settingsStatus,
    reloadSettings,
    registryInfo,
    installFromRegistry,
    listTables,
    clearTable,
    chatCompletion,
    createEmbeddings,
    agentChat,
  ]
  return [...routes, ...documentation(routes)]
}
