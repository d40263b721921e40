import type { Inside, Locate } from '../read/document.ts'
import type { Severity } from '../problem.ts'
import type { Hint, ProblemList } from '../problem-list.ts'
import type { Path } from './walk.ts'

/** How rules report problems; `inside` is the position in the text at the path. */
export type Report = (
  path: Path,
  rule: string,
  severity: Severity,
  message: string,
  hint?: Hint,
  inside?: Inside,
) => void

/** A `Report` that adds problems to `list`, with the position of each path. */
export const reporter =
  (file: string, locate: Locate, list: ProblemList): Report =>
  (path, rule, severity, message, hint = '', inside) =>
    list.add(severity, hint, () => ({ file, ...locate(path, inside), rule, message }))
