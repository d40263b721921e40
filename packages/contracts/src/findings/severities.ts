/** From most to least severe; all lists of severities have this order. */
export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
export const CONFIDENCES = ['Certain', 'Firm', 'Tentative', 'Manual Review Required'] as const
