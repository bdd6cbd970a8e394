import { serveThread } from '../../../platform/workers/thread-task.js'
import { BackupError } from './errors.js'
import { parseStoredManifest } from './manifest.js'
import type { ManifestReading } from './manifest-thread.js'

/** Reads manifests in a thread of its own: one of 64 MiB takes a second. */
serveThread<undefined, { id: string; bytes: Uint8Array }, ManifestReading>(
  async () =>
    async ({ id, bytes }) => {
      try {
        return { manifest: parseStoredManifest(id, bytes) }
      } catch (error) {
        if (!(error instanceof BackupError)) throw error
        return { refusal: { kind: error.kind, message: error.message } }
      }
    },
)
