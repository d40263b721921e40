import { isTopicGlob, topicGlobSql } from '@scanfarm/contracts'
import { sql, type RawBuilder } from 'kysely'

/** Whether the column `topic` equals this topic or matches this shell glob. */
export const topicCondition = (topic: string): RawBuilder<boolean> =>
  isTopicGlob(topic) ? sql`topic ~ ${topicGlobSql(topic)}` : sql`topic = ${topic}`
