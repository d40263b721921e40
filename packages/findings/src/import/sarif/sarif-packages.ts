import type { Severity } from '@scanfarm/contracts'
import { severityOf } from '../../content.ts'
import { asText, asTexts, at } from '../../fields.ts'
import { packageLocation } from '../code/dependencies.ts'
import { advisoryOf } from '../code/osv-scanner.ts'
import { textWords } from '../fingerprints.ts'
import { grypeFile } from '../code/grype.ts'
import { decoded, pathOf } from '../paths.ts'
import type { Location, SarifRun } from './sarif-run.ts'
import { severityOfScore } from '../tool-words.ts'
import { checkId } from '../code/trivy.ts'

/** A result as the JSON of the same tool names it, so that both forms of report have one identity. */
interface WordedResult {
  readonly id: string
  /** Other names of the vulnerability. */
  readonly aliases?: readonly string[]
  /** That of a package, or `""`. */
  readonly name: string
  /** `file:name@version` of a package. */
  readonly location?: string
  readonly purl?: string | undefined
  /** What lasts of a result in a file. */
  readonly lasting?: readonly string[]
  /** Undefined: the result has no other word than its level. */
  readonly severity: Severity | undefined
}

interface Said {
  readonly id: string
  readonly message: string
  readonly rule: unknown
  readonly location: Location
  readonly run: SarifRun
}

/** Longer ones are not of these tools. */
const MAX_MESSAGE = 4_096

const TRIVY = /^Package: (.+)\nInstalled Version: (.*)\nVulnerability (\S+)\nSeverity: (\w+)$/m
/** A misconfiguration or a secret. */
const FLAW =
  /^Artifact: .*\nType: .*\n(Vulnerability|Secret) .*\nSeverity: (\w+)\n(?:Message|Match): ([^]*?)(?:\nLink: \[.*)?$/
const GRYPE =
  /^A (\w+) vulnerability in \S+ package: (.+), version (.*) was found(?: in image (.*?)(?= at: )| from SBOM file (.*))?(?: at: (.*))?/
const OSV = /^Package '(.+)@([^@']*)' is vulnerable to '([^']+)'(?: \(also known as (.+)\))?\.$/

/** The message of a result names the package; its location is the first line of a file. */
const TOOLS: readonly (readonly [
  tool: RegExp,
  message: RegExp,
  of: (said: Said, found: (string | undefined)[]) => WordedResult,
])[] = [
  [
    /^trivy$/i,
    TRIVY,
    ({ rule, location, run }, [, name = '', version = '', id = '', word = '']) => {
      const image = asText(at(rule, 'name')) === 'OsPackageVulnerability' ? run.image : ''
      return {
        id,
        name,
        location: packageLocation(image || location.file, name, version),
        severity: severityOf(word),
      }
    },
  ],
  [
    /^trivy$/i,
    FLAW,
    ({ id }, [, kind, word = '', text = '']) => ({
      id: kind === 'Secret' ? id : checkId(id),
      name: '',
      lasting: textWords(text),
      severity: severityOf(word),
    }),
  ],
  [
    /^grype$/i,
    GRYPE,
    ({ id, rule, location }, [, word = '', name = '', version = '', image, sbom, path]) => {
      const file = path === undefined ? location.file : pathOf(path)
      // `app.jar:/lib/x`
      const archive = location.logical.endsWith(`:/${file}`)
        ? location.logical.slice(0, -file.length - 2)
        : ''
      const purls = asTexts(at(rule, 'properties', 'purls'))
      return {
        id: id.endsWith(`-${name}`) ? id.slice(0, -name.length - 1) : id,
        name,
        location: packageLocation(grypeFile(image ?? sbom ?? archive, file), name, version),
        // Several versions of a package share a rule.
        purl: purls.find((purl) => decoded(purl).includes(`@${version}`)),
        severity: grypeSeverity(word, at(rule, 'properties', 'security-severity')),
      }
    },
  ],
  [
    /^osv-scanner$/i,
    OSV,
    ({ location }, [, name = '', version = '', id = '', others = '']) => {
      const aliases = [id, ...others.replaceAll("'", '').split(', ')].filter((one) => one !== '')
      const at = packageLocation(location.file, name, version)
      return { id: advisoryOf(aliases), aliases, name, location: at, severity: undefined }
    },
  ],
]

/** grype calls what is negligible or unknown low, with the score 0.0 if it has none. */
const grypeSeverity = (word: string, score: unknown): Severity => {
  const isRated = severityOfScore(score) !== undefined
  return word === 'low' && !isRated && asText(score) !== '' ? 'info' : severityOf(word)
}

export const wordedResult = (said: Said): WordedResult | undefined => {
  for (const [tool, message, of] of TOOLS) {
    const found = tool.test(said.run.tool) ? message.exec(said.message.slice(0, MAX_MESSAGE)) : null
    if (found !== null) return of(said, [...found])
  }
  return undefined
}
