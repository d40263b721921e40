export { openRunQueue } from './open.ts'
export {
  QueueSetupError,
  type Consumer,
  type Delivery,
  type MessageRef,
  type QueueBackend,
  type QueueLog,
  type QueueMessage,
  type QueueOptions,
  type RunQueue,
  type Share,
} from './run-queue.ts'
