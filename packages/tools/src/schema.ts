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
