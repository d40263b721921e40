import type { ExecutorLog } from '../src/log.ts'

export const silent: ExecutorLog = { debug() {}, info() {}, warn() {}, error() {} }
