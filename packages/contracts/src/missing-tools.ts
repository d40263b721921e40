/** What happens to runs whose programs no live worker has. Settings use it: without a schema it loads fast. */
export const MISSING_TOOLS = ['wait', 'fail'] as const
export type MissingTools = (typeof MISSING_TOOLS)[number]
