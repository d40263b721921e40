import { QueueSetupError } from '../run-queue.ts'

/** What the login of Redis needs, as rules of ACL SETUSER. */
export const RIGHTS =
  '~scanfarm:* &scanfarm:* +@read +@write +@blocking +@scripting +@pubsub +@connection +@transaction +info'

/** Turns a refusal of a command into one that names the rights; other errors stay. */
export const nameRights = (error: unknown, where: string): unknown =>
  Error.isError(error) && /NOPERM|ACL failure/.test(error.message)
    ? new QueueSetupError(
        `the login at Redis ${where} may not do what the queue needs: ${error.message}. Give it these rights: ACL SETUSER <login> ${RIGHTS}`,
      )
    : Error.isError(error) && /^(?:NOAUTH|WRONGPASS)/.test(error.message)
      ? new QueueSetupError(`Redis at ${where} refuses the login of redis.url (REDIS_URL): ${error.message}`)
      : error
