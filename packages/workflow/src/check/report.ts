import type { Inside, Locate } from '../read/document.ts'
import type { Problem, Severity } from '../problem.ts'
import type { Path } from './walk.ts'

/** How rules tell what they found; `inside` names the place in the text at the path. */
export type Report = (
  path: Path,
  rule: string,
  severity: Severity,
  message: string,
  hint?: string,
  inside?: Inside,
) => void

/** A `Report` that collects into `problems`, with the place of each path. */
export const reporter =
  (file: string, locate: Locate, problems: Problem[]): Report =>
  (path, rule, severity, message, hint = '', inside) => {
    problems.push({ file, ...locate(path, inside), rule, severity, message, hint })
  }
