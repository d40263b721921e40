export { startWorker, type RunningWorker, type WorkerOverrides } from './start-worker.ts'
