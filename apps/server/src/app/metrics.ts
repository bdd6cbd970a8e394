import { join } from 'node:path'
import { checkPart, type ReadinessCheck } from '../http/service-routes.js'
import { freeBytes } from '../platform/disk/free-space.js'
import { jobMetrics } from '../platform/jobs/metrics.js'
import type { Metric } from '../platform/telemetry/metrics.js'
import { version } from '../version.js'
import type { Context } from './context.js'

/** Metrics of the server beside those of slices, requests and the process. */
export function serverMetrics(context: Context): Metric[] {
  const { commits, queue } = context
  const own = [buildInfo(context), diskMetrics(context), jobMetrics(queue)]
  return commits === undefined ? own : [...own, commits]
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

/** Whether the parts work that `/readyz` checks. */
export function readinessMetric(checks: readonly ReadinessCheck[]): Metric {
  return {
    collect: async () => {
      const results = await Promise.all(checks.map(checkPart))
      return [
        {
          name: 'botstead_ready',
          help: 'Whether a part that the server needs works: 1, or 0.',
          type: 'gauge',
          samples: results.map((result) => ({
            labels: { part: result.name },
            value: 'cause' in result ? 0 : 1,
          })),
        },
      ]
    },
  }
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
