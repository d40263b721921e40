import { asList, asText, asTexts, at } from '../../fields.ts'
import { dependencyFinding, packageLocation } from './dependencies.ts'
import { isList, jsonReport } from '../json/json-report.ts'
import type { Imported } from '../read-body.ts'
import { failed, unusable } from '../records.ts'

/** pip-audit names no severity. */
const SEVERITY = 'medium'

const PATTERNS = ['', 'dependencies', 'dependencies.[]', '[]']

/**
 * Reads JSON of pip-audit, also of versions before 2 (a list). A package that could not be checked only keeps its own
 * records open, but a scan that checked none has failed.
 */
export async function* pipAuditFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  let checked = 0
  const skipped: string[] = []
  for await (const part of jsonReport(body, isList, ...PATTERNS)) {
    if (part.kind === 'problem') {
      yield unusable(part.reason, part.line)
      continue
    }
    if (!part.at.endsWith('[]')) continue
    const one = part.value
    const name = asText(at(one, 'name'))
    const reason = asText(at(one, 'skip_reason'))
    const vulnerabilities = at(one, 'vulns')
    if (name === '' || (reason === '' && !Array.isArray(vulnerabilities)))
      yield unusable('it is not a package of pip-audit (-f json)', part.line)
    else if (reason !== '') {
      skipped.push(reason)
      const version = asText(at(one, 'version')) || (/\(([^()]+)\)$/.exec(reason)?.[1] ?? '')
      yield failed(reason, { host: packageLocation('', name, version) })
    } else {
      checked += 1
      const version = asText(at(one, 'version'))
      for (const found of asList(vulnerabilities))
        yield dependencyFinding({
          tool: 'pip-audit',
          id: asText(at(found, 'id')),
          aliases: asTexts(at(found, 'aliases')),
          file: '',
          name,
          version,
          registry: 'pypi',
          fixed: asTexts(at(found, 'fix_versions')),
          severity: SEVERITY,
          title: '',
          text: asText(at(found, 'description')),
          raw: { package: name, version, ...(found as object) },
        })
    }
  }
  if (checked === 0 && skipped.length > 0)
    yield failed(`none of the ${skipped.length} packages could be checked: ${skipped[0] ?? ''}`)
}
