import { Type, type Static } from 'typebox'

const closed = { additionalProperties: false }

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** `any`: one file for all architectures. */
const Checksums = Type.Object(
  { any: Type.Optional(Sha256), amd64: Type.Optional(Sha256), arm64: Type.Optional(Sha256) },
  { ...closed, minProperties: 1 },
)

const Release = Type.Object(
  {
    url: Type.String({ pattern: '^https?://', maxLength: 2048 }),
    program: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    folder: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    sha256: Checksums,
  },
  closed,
)

const Question = Type.Object(
  {
    /** Without it the program is a script whose text contains the version. */
    args: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16 })),
    pattern: Type.String({ minLength: 1, maxLength: 256 }),
  },
  closed,
)

const Line = Type.String({ minLength: 1, maxLength: 256 })
/** `complete`: does not show that something is wrong; `error`: says so; `cut`: ends in the middle; `none`: empty or no file. */
const Report = Type.Enum(['complete', 'error', 'cut', 'none'])
const ended = {
  exit: Type.Union([Type.Integer({ minimum: 0, maximum: 255 }), Type.Literal('running')]),
  report: Report,
}
const Ended = Type.Object(ended, closed)
const Stopped = Type.Object(
  {
    ...ended,
    /** `running`: it did not end within these. */
    seconds: Type.Number({ minimum: 0 }),
    /** Programs that it left running. */
    leaves: Type.Optional(Type.Array(Line, { maxItems: 16 })),
  },
  closed,
)

/** What a version of a tool was seen to do: `npm run tools:facts` measures it. */
const Facts = Type.Object(
  {
    tried: Line,
    /** What was counted in the worst second with `limit`: `factor` for each one that the flag says, and `extra`. */
    rate: Type.Optional(
      Type.Object(
        {
          of: Type.Enum(['packets', 'connections', 'requests']),
          factor: Type.Number({ exclusiveMinimum: 0 }),
          extra: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        closed,
      ),
    ),
    /** The most in a second to one service, without a limit. */
    connections: Type.Integer({ minimum: 0 }),
    requests: Type.Integer({ minimum: 0 }),
    /** Whether it follows redirects to other hosts. */
    redirects: Type.Object({ follows: Type.Boolean(), forbid: Type.Optional(Line) }, closed),
    /** Names that it looks up for a target without a name. */
    contacts: Type.Array(Type.Object({ name: Line, avoid: Type.Optional(Line) }, closed), { maxItems: 32 }),
    targets: Type.Object({ refused: Ended, gone: Ended, unresolved: Type.Optional(Ended) }, closed),
    stop: Type.Object({ term: Stopped, int: Stopped }, closed),
    notes: Type.Optional(Type.Array(Line, { maxItems: 16 })),
  },
  closed,
)
export type Facts = Static<typeof Facts>

const Entry = Type.Object(
  {
    purpose: Type.String({ maxLength: 256 }),
    home: Type.String({ pattern: '^https?://', maxLength: 256 }),
    license: Type.String({ maxLength: 64 }),
    version: Type.String({ pattern: '^[0-9][A-Za-z0-9.+~-]*$', maxLength: 64 }),
    debian: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9+.-]+$', maxLength: 64 })),
    release: Type.Optional(Release),
    ask: Type.Optional(Question),
    needs: Type.Optional(Type.Array(Type.String(), { maxItems: 16 })),
    /** Arguments that limit it: {rate} is a number a second, {ms} and {seconds} are the pause between two. */
    limit: Type.Optional(Type.String({ pattern: '^[ -~]*\\{(rate|ms|seconds)\\}[ -~]*$', maxLength: 256 })),
    /** Arguments for a proxy: {proxy} is HOST:PORT. Missing: it cannot use one, or only that of the environment. */
    proxy: Type.Optional(Type.String({ pattern: '^[ -~]*\\{proxy\\}[ -~]*$', maxLength: 256 })),
    facts: Type.Optional(Facts),
  },
  closed,
)

/** Names of programs, as workflows list them in `dependencies.commands`. */
const NAME = '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$'

export const ManifestFile = Type.Object(
  { tools: Type.Record(Type.String({ pattern: NAME }), Entry, closed) },
  closed,
)
export type ManifestFile = Static<typeof ManifestFile>
export type Entry = Static<typeof Entry>
export type Release = Static<typeof Release>
