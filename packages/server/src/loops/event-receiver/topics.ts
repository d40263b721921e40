/** What fires under the first name fires under the second one as well. */
const OTHER_NAME: Readonly<Record<string, string>> = {
  'asset.discovered': 'assets.new',
  'asset.updated': 'assets.updated',
}

/** All names of the topics that a trigger waits for, for the database. */
export const wantedTopics = (topic: string): string[] => {
  if (topic === '') return ['*']
  const matches = topicMatcher(topic)
  return [topic, ...Object.keys(OTHER_NAME).filter((name) => name !== topic && matches(name))]
}

/** Whether a topic, or its other name, is what a trigger waits for. Throws a `SyntaxError` for a bad glob. */
export const topicMatcher = (glob: string): ((topic: string) => boolean) => {
  const matches = glob === '' ? () => true : plainMatcher(glob)
  return (topic) => matches(topic) || (OTHER_NAME[topic] !== undefined && matches(OTHER_NAME[topic]))
}

const plainMatcher = (glob: string): ((topic: string) => boolean) => {
  if (!/[*?[]/.test(glob)) return (topic) => topic === glob
  const body = glob.replaceAll(/\[(!?)([^\]]+)\]|[^]/g, (match: string, not?: string, set?: string) => {
    if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replaceAll(/[\\^[]/g, '\\$&')}]`
    if (match === '*') return '.*'
    if (match === '?') return '.'
    return match.replace(/[\\^$.|+(){}[\]/]/, '\\$&')
  })
  const expression = new RegExp(`^${body}$`, 's')
  return (topic) => expression.test(topic)
}
