import { join } from 'node:path'
import { freeBytes } from '../platform/disk/free-space.js'
import { jobMetrics } from '../platform/jobs/metrics.js'
import type { Metric } from '../platform/telemetry/metrics.js'
import { version } from '../version.js'
import type { Context } from './context.js'

/** Metrics of the server beside those of slices, requests and the process. */
export function serverMetrics(context: Context): Metric[] {
  return [buildInfo(context), diskMetrics(context), jobMetrics(context.queue)]
}

/** The folders of this machine that the server writes to, by what they hold. */
export function foldersOf({
  config,
  database,
}: Pick<Context, 'config' | 'database'>): Map<'database' | 'contents', string> {
  const folders = new Map<'database' | 'contents', string>()
  if (database.file !== undefined) folders.set('database', config.dataDir)
  if (config.objectStore === undefined) folders.set('contents', join(config.dataDir, 'blobs'))
  return folders
}

/** Free space on the disks of this machine that the server writes to. */
function diskMetrics(context: Context): Metric {
  const folders = foldersOf(context)
  return {
    collect: async () => [
      {
        name: 'botstead_disk_free_bytes',
        help: 'Room on the disk of the database and of the contents of files, where they are on this machine.',
        type: 'gauge',
        samples: await Promise.all(
          Array.from(folders, async ([of, folder]) => ({
            labels: { of },
            value: await freeBytes(folder),
          })),
        ),
      },
    ],
  }
}

function buildInfo({ config, database }: Context): Metric {
  const labels = {
    version,
    node: process.versions.node,
    database: database.dialect.name,
    contents: config.objectStore === undefined ? 'disk' : 's3',
  }
  return {
    collect: () => [
      {
        name: 'botstead_build_info',
        help: 'What runs here; always 1.',
        type: 'gauge',
        samples: [{ labels, value: 1 }],
      },
    ],
  }
}
