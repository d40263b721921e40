import type { Route } from '../http/route.ts'
import { assetStats, getAsset, listAssets } from './assets.ts'
import { estimateCost } from './cloud/estimate.ts'
import { createInfra, destroyInfra, getInfra, getInfraStatus, listInfras } from './cloud/infras.ts'
import { listProviders, validateProvider } from './cloud/providers.ts'
import { listAllArtifacts, readWorkspaceArtifact } from './data/artifacts.ts'
import {
  getWebhookRunTrigger,
  listAssetDiffs,
  listVulnerabilityDiffs,
  listWebhookRuns,
  postWebhookRunTrigger,
} from './data/not-kept.ts'
import { changeOrg, createOrg, getOrg, getOrgStats, listOrgs, removeOrg } from './data/orgs.ts'
import {
  downloadSnapshot,
  exportSnapshot,
  importSnapshot,
  listSnapshots,
  removeSnapshot,
} from './data/snapshots.ts'
import { getStats } from './data/stats.ts'
import { listStepResults } from './data/step-results.ts'
import { readWorkspaceFile } from './data/workspace-files.ts'
import { listWorkspaceNames, listWorkspaces } from './data/workspaces.ts'
import { diffAssets, diffRuns, diffVulnerabilities } from './diff.ts'
import { documentation } from './documentation.ts'
import { listEventLogs } from './event-logs.ts'
import { eventReceiverStatus, eventReceiverWorkflows } from './event-receiver.ts'
import { streamEvents } from './event-stream.ts'
import { emitEvent } from './events.ts'
import { exportVulnerabilities, importVulnerabilities } from './findings-transfer.ts'
import {
  createIncomingWebhook,
  listIncomingWebhooks,
  receiveWebhook,
  removeIncomingWebhook,
} from './incoming-webhooks.ts'
import { health, metrics, ready, serverInfo } from './farm.ts'
import { evaluateFunction, functionList } from './functions.ts'
import { cancelJob, getJob } from './jobs.ts'
import { login, logout } from './login.ts'
import { chatCompletion, createEmbeddings } from './models.ts'
import { readArtifact } from './runs/artifact-content.ts'
import { cancelRun } from './runs/cancel-run.ts'
import { createRuns } from './runs/create-runs.ts'
import { getRun } from './runs/get-run.ts'
import { listRuns } from './runs/list-runs.ts'
import { duplicateRun, startRun } from './runs/restart-run.ts'
import { listArtifacts, listSteps, readStepLog } from './runs/run-parts.ts'
import {
  changeSchedule,
  createSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
  listSchedules,
  removeSchedule,
  triggerSchedule,
} from './schedules.ts'
import { registryInfo } from './registry.ts'
import { listSettings, reloadSettings, settingsAsYaml, settingsStatus } from './settings.ts'
import { listTables } from './tables.ts'
import { createTask, getTask, listTasks } from './tasks.ts'
import { createToken, listTokens, removeToken } from './tokens.ts'
import { agentChat, clearTable, installFromRegistry } from './unsupported.ts'
import { uploadFile } from './uploads.ts'
import { changeUser, createUser, getUser, listUsers, removeUser } from './users.ts'
import {
  createVulnerability,
  getVulnerability,
  listVulnerabilities,
  removeVulnerability,
  summariseVulnerabilities,
} from './vulnerabilities.ts'
import {
  changeSubscription,
  createSubscription,
  listDeliveries,
  listSubscriptions,
  redeliver,
  removeSubscription,
} from './webhook-subscriptions.ts'
import { getWorker, listWorkers } from './workers.ts'
import { lintWorkflow, workflowSchema } from './workflow-language.ts'
import { uploadWorkflow } from './workflow-upload.ts'
import { getWorkflow, listWorkflows, listWorkflowTags, refreshWorkflows } from './workflows.ts'

/** Every endpoint there is, in the order of the document. */
export const apiRoutes = (): Route[] => {
  const routes = [
    createRuns,
    listRuns,
    getRun,
    cancelRun,
    listSteps,
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
    getJob,
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
    uploadWorkflow,
    workflowSchema,
    functionList,
    evaluateFunction,
    listVulnerabilities,
    summariseVulnerabilities,
    exportVulnerabilities,
    diffVulnerabilities,
    listVulnerabilityDiffs,
    importVulnerabilities,
    createVulnerability,
    getVulnerability,
    removeVulnerability,
    listAssets,
    diffAssets,
    listAssetDiffs,
    getAsset,
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
    listWebhookRuns,
    getWebhookRunTrigger,
    postWebhookRunTrigger,
    listWorkers,
    getWorker,
    login,
    logout,
    createToken,
    listTokens,
    removeToken,
    createUser,
    listUsers,
    getUser,
    changeUser,
    removeUser,
    getStats,
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
