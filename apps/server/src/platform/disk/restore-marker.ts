import { readFile, rm } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { replaceSecretFile } from '../security/secrets.js'
import { hasErrorCode, syncFolder } from './files.js'

/** The file of a data folder that says that a restore to it has begun and not ended. */
export function restoreMarker(dataDir: string) {
  const path = join(dataDir, 'restoring')
  return {
    /** Id of the backup; undefined if nothing is being restored. */
    async read(): Promise<string | undefined> {
      try {
        return (await readFile(path, 'utf8')).trim()
      } catch (error) {
        if (hasErrorCode(error, 'ENOENT', 'ENOTDIR')) return undefined
        throw error
      }
    },
    write: (id: string) => replaceSecretFile(path, id),
    async remove(): Promise<void> {
      await rm(path, { force: true })
      await syncFolder(dataDir)
    },
  }
}

/** @throws Error with what to do when a restore to the folder was interrupted, or the folder may not be read */
export async function requireRestored(dataDir: string): Promise<void> {
  const id = await restoreMarker(dataDir)
    .read()
    .catch((cause: unknown) => {
      if (!hasErrorCode(cause, 'EACCES', 'EPERM')) throw cause
      throw new Error(
        `The user ${userInfo().username} may not read ${dataDir}: run this as the user of the server.`,
        { cause },
      )
    })
  if (id === undefined) return
  throw new Error(
    `The restore of the backup ${id} to ${dataDir} has not ended: run "botstead restore <source> --backup ${id}" again, or empty the folder, the database and the bucket to begin with another one.`,
  )
}
