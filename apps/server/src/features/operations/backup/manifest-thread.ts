import { createThreadPool } from '../../../platform/workers/thread-pool.js'
import { BackupError, type BackupErrorKind } from './errors.js'
import { type Manifest, parseStoredManifest } from './manifest.js'

/** The result of reading a manifest in a thread. */
export type ManifestReading =
  | { manifest: Manifest }
  | { refusal: { kind: BackupErrorKind; message: string } }

/** Bytes up to which a manifest is read at once: it then takes some milliseconds. */
const smallBytes = 1024 * 1024

/**
 * Reads the bytes of a manifest. A server reads those of its backups while it serves requests, and where they are not
 * encrypted, anybody may have written them who can write there.
 * @throws BackupError
 */
export async function readStoredManifest(id: string, bytes: Uint8Array): Promise<Manifest> {
  if (bytes.length <= smallBytes) return parseStoredManifest(id, bytes)
  await using pool = createThreadPool<{ id: string; bytes: Uint8Array }, ManifestReading>({
    entry: new URL('./manifest-worker.js', import.meta.url),
    setup: undefined,
    threads: 1,
    maxQueue: 0,
    timeLimitMs: 5 * 60_000,
    memoryLimitMb: 1024,
    onError: () => {},
  })
  const reading = await pool.run({ id, bytes })
  if ('manifest' in reading) return reading.manifest
  throw new BackupError(reading.refusal.kind, reading.refusal.message)
}
