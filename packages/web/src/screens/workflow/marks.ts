/** The sign and the tone of a line with a problem. */
export const MARKS = { error: ['■', 'bad'], warning: ['▲', 'warn'], info: ['●', 'busy'] } as const
