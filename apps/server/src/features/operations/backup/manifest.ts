import { isBlobKey } from '../../../platform/blobs/blob-store.js'
import { exceededBound } from '../../../platform/json-bounds.js'
import { BackupError, damagedBackup } from './errors.js'
import { pieceBytes, sha256Of, type WrappedKey } from './sealing.js'

/** Version of the format of targets and manifests, which these name `form`. */
export const formatVersion = 1
/** Bytes that a manifest may have: it lists the pieces of a database of 3 TiB. */
export const maxManifestBytes = 64 * 1024 * 1024
const maxTables = 10_000
/** Values that a manifest may have: the names of the pieces are most of them, and 67 bytes long. */
const maxValues = 1_500_000
/** Bytes that scrypt may go through for the key, four times what it takes today. */
const maxKeyBytes = 256 * 1024 * 1024

/** The first object of a target: whose backups are in it, and how they are encrypted. */
export interface TargetHeader {
  form: typeof formatVersion
  /** Of the server whose backups are here. */
  installation: string
  /** Undefined where backups are not encrypted. */
  encryption?: WrappedKey | undefined
}

/** A stream of bytes, in pieces. */
export interface StoredStream {
  bytes: number
  sha256: string
  /** Names of the pieces, each full but the last. */
  pieces: readonly string[]
}

/** A part of the database: the SQLite file, or the rows of a table in PostgreSQL's text format of COPY. */
export interface DatabasePart extends StoredStream {
  name: string
  /** Of the rows; empty for a file. */
  columns: readonly string[]
}

/** The list of the parts of a backup. It is stored last: a backup without it does not exist. */
export interface Manifest {
  form: typeof formatVersion
  id: string
  /** ISO 8601; of the moment that the backup shows. */
  createdAt: string
  /** Of the server that made it. */
  version: string
  installation: string
  engine: 'sqlite' | 'postgres'
  /** Names of the migrations that the database has. */
  schema: readonly string[]
  database: {
    bytes: number
    tables: readonly { name: string; rows: number }[]
    parts: readonly DatabasePart[]
  }
  contents: {
    count: number
    bytes: number
    /** Names of the pieces that list the contents; each ends with a whole line. */
    index: readonly string[]
    /** Contents that the server had lost before, which are not in the backup. */
    lost: number
    /** Keys of some of them, with the reason. */
    lostKeys: readonly string[]
  }
  /** Pieces of the files with secrets. */
  secrets: StoredStream
  /** Bytes that were added to the target. */
  storedBytes: number
}

/** The secret files of a data folder. */
export interface SecretFiles {
  secret: string
  /** The token of the first start, while its file is there. */
  adminToken?: string | undefined
}

/** @throws BackupError */
export function parseHeader(text: string): TargetHeader {
  const reader = createReader(text, (cause) => {
    const message =
      'The header of the backups is damaged, without which they cannot be read: restore it from a copy of the target, or use another target.'
    return new BackupError('damaged', message, { cause })
  })
  const given = reader.object(reader.root)
  requireFormat(given)
  const installation = reader.text(given.installation)
  if (given.encryption === undefined) return { form: formatVersion, installation }
  const { N, r, p, kdf, salt, key } = reader.object(given.encryption)
  if (kdf !== 'scrypt') throw reader.damaged()
  const encryption: WrappedKey = {
    kdf,
    N: reader.integer(N, 2 ** 20),
    r: reader.integer(r, 32),
    p: reader.integer(p, 16),
    salt: reader.text(salt),
    key: reader.text(key),
  }
  if (N !== 2 ** Math.round(Math.log2(encryption.N)) || N < 2) throw reader.damaged()
  if (encryption.r < 1 || encryption.p < 1) throw reader.damaged()
  // Whoever can write there could take the memory and the time of every command that opens it.
  if (128 * encryption.N * encryption.r * encryption.p > maxKeyBytes) throw reader.damaged()
  return { form: formatVersion, installation, encryption }
}

/**
 * Reads the bytes of a stored manifest: the SHA-256 of its text, and the text.
 * @throws BackupError
 */
export function parseStoredManifest(id: string, bytes: Uint8Array): Manifest {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = stored.indexOf('\n')
  const text = stored.subarray(end + 1)
  // Without encryption, only this hash shows that the manifest is whole.
  if (end < 0 || stored.toString('latin1', 0, end) !== sha256Of(text)) {
    throw damagedBackup(`The manifest ${id} of the backup is damaged.`)
  }
  return parseManifest(id, text.toString('utf8'))
}

/**
 * Reads a manifest, which may come from anybody: nothing in it becomes a path or SQL that is not compared with
 * what the server has.
 * @throws BackupError
 */
export function parseManifest(id: string, text: string): Manifest {
  const reader = createReader(text, (cause) =>
    damagedBackup(`The manifest ${id} of the backup is damaged.`, { cause }),
  )
  const given = reader.object(reader.root)
  requireFormat(given)
  const database = reader.object(given.database)
  const contents = reader.object(given.contents)
  if (given.id !== id || (given.engine !== 'sqlite' && given.engine !== 'postgres'))
    throw reader.damaged()
  const toStream = (value: unknown): StoredStream => {
    const { bytes, sha256, pieces } = reader.object(value)
    const size = reader.integer(bytes)
    const names = reader.list(pieces).map(reader.pieceName)
    if (names.length !== Math.ceil(size / pieceBytes)) throw reader.damaged()
    return { bytes: size, sha256: reader.sha256(sha256), pieces: names }
  }
  const tables = reader.list(database.tables, maxTables).map((each) => {
    const { name, rows } = reader.object(each)
    // Any name: other tools have tables in the database of SQLite too, such as Litestream.
    return { name: reader.text(name), rows: reader.integer(rows) }
  })
  const parts = reader.list(database.parts, maxTables).map((each) => {
    const { name, columns } = reader.object(each)
    const named = reader.list(columns, maxTables).map(reader.identifier)
    return { ...toStream(each), name: reader.identifier(name), columns: named }
  })
  return {
    form: formatVersion,
    id,
    createdAt: reader.text(given.createdAt),
    version: reader.text(given.version),
    installation: reader.text(given.installation),
    engine: given.engine,
    schema: reader.list(given.schema, maxTables).map(reader.text),
    database: { bytes: reader.integer(database.bytes), tables, parts },
    contents: {
      count: reader.integer(contents.count),
      bytes: reader.integer(contents.bytes),
      index: reader.list(contents.index).map(reader.pieceName),
      lost: reader.integer(contents.lost),
      lostKeys: reader.list(contents.lostKeys, maxTables).map(reader.text),
    },
    secrets: toStream(given.secrets),
    storedBytes: reader.integer(given.storedBytes),
  }
}

/** A SHA-256 in hex; names of pieces are one too. */
const sha256Pattern = /^[0-9a-f]{64}$/

/** A content in the index of a backup. */
export interface ContentEntry {
  key: string
  size: number
  sha256: string
  pieces: readonly string[]
}

/** Bytes that one content may have, 4 TiB: the names of its pieces are in memory. */
export const maxContentBytes = 2 ** 42
/** Names in one line, which fits into a piece. */
const namesPerLine = Math.floor((pieceBytes - 256) / 65)

/** The lines of a content in the index: more than one if it has more pieces than one line names. */
export function entryLines({ key, size, sha256, pieces }: ContentEntry): string[] {
  const lines = [`${key} ${size} ${sha256} ${pieces.slice(0, namesPerLine).join(' ')}\n`]
  for (let at = namesPerLine; at < pieces.length; at += namesPerLine) {
    lines.push(`+ ${pieces.slice(at, at + namesPerLine).join(' ')}\n`)
  }
  return lines
}

/** A line of the index. */
export interface EntryLine {
  /** The content that begins with it; undefined where it continues the one before. */
  begun: Omit<ContentEntry, 'pieces'> | undefined
  pieces: readonly string[]
}

/** @throws BackupError when a line is not one of {@link entryLines} */
export function parseEntryLine(line: string): EntryLine {
  if (line.startsWith('+ ')) return { begun: undefined, pieces: parseNames(line.slice(2)) }
  const [key = '', size = '', sha256 = ''] = line.split(' ', 3)
  const bytes = /^\d{1,15}$/.test(size) ? Number(size) : -1
  if (!isBlobKey(key) || bytes < 0 || bytes > maxContentBytes || !sha256Pattern.test(sha256)) {
    throw damagedList()
  }
  const names = line.slice(key.length + size.length + sha256.length + 3)
  return { begun: { key, size: bytes, sha256 }, pieces: parseNames(names) }
}

function parseNames(text: string): string[] {
  const names = text.split(' ').filter((name) => name !== '')
  if (!names.every((name) => sha256Pattern.test(name))) throw damagedList()
  return names
}

export function damagedList(): BackupError {
  return damagedBackup('The list of contents of the backup is damaged.')
}

function requireFormat(given: Record<string, unknown>): void {
  if (given.form === formatVersion) return
  throw new BackupError(
    'unusable',
    `The backup has format ${JSON.stringify(given.form)?.slice(0, 20)}, and this version of Botstead reads format ${formatVersion}: use the version that made it, or a later one.`,
  )
}

/** Reads JSON of which every member is checked; whatever is not as expected throws `damaged`. */
function createReader(text: string, damaged: (cause?: unknown) => BackupError) {
  let root: unknown
  if (exceededBound(text, { values: maxValues }) !== undefined) throw damaged()
  try {
    root = JSON.parse(text)
  } catch (cause) {
    throw damaged(cause)
  }
  const matching = (pattern: RegExp) => (value: unknown) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw damaged()
    return value
  }
  return {
    root,
    damaged,
    object(value: unknown): Record<string, unknown> {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged()
      return value as Record<string, unknown>
    },
    list(value: unknown, most = Number.POSITIVE_INFINITY): unknown[] {
      if (!Array.isArray(value) || value.length > most) throw damaged()
      return value
    },
    integer(value: unknown, most = Number.MAX_SAFE_INTEGER): number {
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
        throw damaged()
      return value
    },
    // Without control characters: a terminal would take them for commands.
    text: matching(/^[^\p{Cc}\p{Cf}]{1,4096}$/u),
    identifier: matching(/^[a-z][a-z0-9_]{0,62}$/),
    sha256: matching(sha256Pattern),
    pieceName: matching(sha256Pattern),
  }
}
