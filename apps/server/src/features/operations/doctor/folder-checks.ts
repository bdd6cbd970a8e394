import { access, constants, stat, statfs } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import type { Config } from '../../../config/config.js'
import { privateFiles } from '../../../platform/disk/data-folder.js'
import { fileSize, hasErrorCode, isOwnerOnly } from '../../../platform/disk/files.js'
import { minimumFreeBytes } from '../../../platform/disk/free-space.js'
import { restoreMarker } from '../../../platform/disk/restore-marker.js'
import { minSecretLength, readSecretFile } from '../../../platform/security/secrets.js'
import { sizeText } from '../../../platform/size-text.js'
import { type Finding, failed, ok, reasonOf, warning } from './finding.js'

/** Whether the data folder is there, is the server's, and is closed to others. */
export async function checkDataFolder({ dataDir, secret }: Config): Promise<Finding[]> {
  const folder = await stat(dataDir).catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (folder === undefined) return [missingFolder(dataDir)]
  if (!folder.isDirectory()) {
    return [failed(`${dataDir} is a file.`, 'Move it away, or set BOTSTEAD_DATA_DIR to a folder.')]
  }
  const found: Finding[] = []
  const mode = constants.R_OK | constants.W_OK | constants.X_OK
  if (!(await isAllowed(dataDir, mode))) {
    const { username } = userInfo()
    found.push(
      failed(
        `The user ${username} may not read and write in ${dataDir}.`,
        'Run this as the user of the server; if it is that one, make the folder theirs (chown).',
      ),
    )
    return found
  }
  for (const name of privateFiles) {
    const path = join(dataDir, name)
    const file = await stat(path).catch(() => undefined)
    if (file === undefined) continue
    if (!isOwnerOnly(file)) {
      found.push(
        warning(
          `Others may read or write ${path}, which must be private.`,
          `Run: chmod 600 '${path}'`,
        ),
      )
    }
    if (!(await isAllowed(path, constants.R_OK | constants.W_OK))) {
      found.push(
        failed(`This user may not read and write ${path}.`, `Run: chown it as ${dataDir}.`),
      )
    } else if (file.uid !== folder.uid) {
      found.push(
        failed(
          `${path} belongs to another user (${file.uid}) than the folder (${folder.uid}): the server may not be able to use it.`,
          `Run: chown ${folder.uid} '${path}'`,
        ),
      )
    }
  }
  const restoring = await restoreMarker(dataDir).read()
  if (restoring !== undefined) {
    found.push(
      failed(
        `The restore of the backup ${restoring} has not ended: the server does not start.`,
        `Run: npx botstead restore <source> --backup ${restoring}`,
      ),
    )
  }
  found.push(...(await checkSecret(dataDir, secret)))
  return found.length > 0 ? found : [ok(`${dataDir} is writable, and its secrets are private`)]
}

function missingFolder(dataDir: string): Finding {
  return warning(
    `There is no data folder ${dataDir}: no server has started with these settings.`,
    'Run this in the folder of the server, with its settings, or start the server.',
  )
}

async function checkSecret(dataDir: string, given: string | undefined): Promise<Finding[]> {
  if (given !== undefined) return []
  const path = join(dataDir, 'secret')
  const text = await readSecretFile(path)
  if (text === undefined) {
    return [
      warning(
        `There is no file ${path}: the next start makes a new secret, with which stored secrets cannot be read.`,
        'If a server has run here, restore the file from a backup, or set BOTSTEAD_SECRET.',
      ),
    ]
  }
  if (text.length >= minSecretLength) return []
  return [failed(`The secret in ${path} is damaged.`, 'Restore the file from a backup.')]
}

async function isAllowed(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return true
  } catch {
    return false
  }
}

const gigabyte = 1e9
/** With fewer free bytes than this, even a server with little work fills the disk within hours. */
const scarceBytes = 100e6
/** Share of the inodes below which new files fail soon. */
const minInodeShare = 0.02

/** Checks the free space of the disks to which the server writes, and names the first failure without it. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const { backup, dataDir } = config
  const findings = [await checkSpace('the data folder', dataDir, await nextToFail(config))]
  if (backup?.location.kind === 'folder') {
    findings.push(
      await checkSpace('the backups', backup.location.folder, {
        text: 'The next backup',
        bytes: 0,
      }),
    )
  }
  return findings
}

/** A function of the server that fails when a disk fills up. */
interface Need {
  /** The subject of a sentence that ends with "fails". */
  text: string
  /** Free bytes that it needs. */
  bytes: number
}

async function nextToFail(config: Config): Promise<Need> {
  const file = join(config.dataDir, 'botstead.db')
  const database = config.databaseUrl === undefined ? await fileSize(file) : 0
  const upload = config.objectStore === undefined ? config.limits.fileBytes : 0
  return upload > database || database === 0
    ? {
        text: `An upload of the allowed size (${sizeText(config.limits.fileBytes)})`,
        bytes: upload,
      }
    : {
        text: `An upgrade, which copies the database (${sizeText(database)}) first,`,
        bytes: database,
      }
}

async function checkSpace(of: string, folder: string, need: Need): Promise<Finding> {
  const existing = await nearestFolder(folder)
  const { bavail, blocks, bsize, ffree, files } = await statfs(existing)
  const free = bavail * bsize
  const text = `The disk of ${of} has ${sizeText(free)} free of ${sizeText(blocks * bsize)}`
  const room = `Make room on the disk of ${folder}, or make it larger.`
  if (free < minimumFreeBytes) {
    return failed(
      `${text}: it is full, and nothing is stored any more.`,
      `${room} Deleting files and bots still works.`,
    )
  }
  if (free < scarceBytes) return failed(`${text}: messages and uploads fail soon.`, room)
  if (files > 0 && ffree < files * minInodeShare) {
    return warning(
      `The disk of ${of} has ${ffree} of ${files} inodes free: new files fail soon.`,
      room,
    )
  }
  if (free < gigabyte) return warning(`${text}: that is little. ${need.text} fails next.`, room)
  if (free < need.bytes) return ok(`${text}. ${need.text} would fail`)
  return ok(text)
}

/** The folder, or the first above it that exists. */
async function nearestFolder(folder: string): Promise<string> {
  try {
    await stat(folder)
    return folder
  } catch (error) {
    const above = dirname(folder)
    if (above === folder) throw new Error(reasonOf(error), { cause: error })
    return await nearestFolder(above)
  }
}
