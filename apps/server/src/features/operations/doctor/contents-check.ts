import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config/config.js'
import { hasErrorCode } from '../../../platform/disk/files.js'
import { installationOf, readSecretFile } from '../../../platform/security/secrets.js'
import { type ClockReading, type Finding, failed, ok, reasonOf, warning } from './finding.js'

/** Whether contents of files can be written, read and deleted where they are stored. */
export async function checkContents(
  config: Config,
  signal: AbortSignal,
): Promise<{ findings: Finding[]; readings: ClockReading[] }> {
  const { objectStore } = config
  if (objectStore === undefined) return { findings: [await checkFolder(config)], readings: [] }
  const { probeS3 } = await import('../../../platform/blobs/s3-probe.js')
  const place = `${objectStore.bucket}/${objectStore.prefix} at ${objectStore.endpoint}`
  try {
    const { storeTime, ownTime, owner } = await probeS3(objectStore, signal)
    const readings =
      storeTime === undefined
        ? []
        : [{ of: 'the object store', aheadMs: storeTime - ownTime, toleranceMs: 1500 }]
    const own = await ownInstallation(config)
    if (owner !== undefined && own !== undefined && owner !== own) {
      const other = failed(
        `Another installation keeps its contents in ${place}: the server does not start.`,
        'Give this one another prefix in BOTSTEAD_BLOBS_URL, or restore its BOTSTEAD_SECRET.',
      )
      return { findings: [other], readings }
    }
    return { findings: [ok(`${place} stores, returns and deletes contents`)], readings }
  } catch (error) {
    if (signal.aborted) throw error
    return { findings: [failed(reasonOf(error))], readings: [] }
  }
}

/** Name of this installation in the object store; undefined where there is no secret yet. */
async function ownInstallation({ secret, dataDir }: Config): Promise<string | undefined> {
  const known = secret ?? (await readSecretFile(join(dataDir, 'secret')).catch(() => undefined))
  return known ? installationOf(Buffer.from(known)) : undefined
}

async function checkFolder({ dataDir }: Config): Promise<Finding> {
  const folder = join(dataDir, 'blobs')
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return ok(`On disk, in ${folder}`)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) {
      return warning(
        `There is no folder ${folder} yet.`,
        'The start of the server makes it; if files were stored here, restore a backup.',
      )
    }
    return failed(
      `This user may not read and write in ${folder}.`,
      'Run this as the user of the server; if it is that one, make the folder theirs (chown).',
    )
  }
}
