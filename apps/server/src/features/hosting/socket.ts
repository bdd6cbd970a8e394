import { existsSync } from 'node:fs'
import { constants, lstat, open } from 'node:fs/promises'
import { hasErrorCode } from '../../platform/disk/files.js'

// The server connects to the socket of a program, whose folder the program may write to: in place of the
// socket, code could put a link to that of another program. The socket is therefore opened once, before
// the code is loaded, and every connection goes to what was opened.

/** A socket that was opened, whatever is at its path now. */
export interface OpenSocket {
  /** Path that leads to it, for this process only. */
  path: string
  /** Whether its file is not needed any more. */
  isHeld: boolean
  close(): Promise<void>
}

/** `O_PATH` of Linux: refers to a file without opening it for reading or writing. */
const pathOnly = 0o10000000
const descriptors = '/proc/self/fd'

/** Whether this system can hold a socket without its path. */
export function canHoldSockets(): boolean {
  return process.platform === 'linux' && existsSync(descriptors)
}

/**
 * Opens the socket at a path, without following a link.
 * @returns undefined if there is nothing yet
 * @throws if it is not a socket, or does not belong to the user
 */
export async function openSocket(path: string, user: number): Promise<OpenSocket | undefined> {
  try {
    if (!canHoldSockets()) {
      requireSocket(await lstat(path), user)
      return { path, isHeld: false, close: async () => {} }
    }
    const handle = await open(path, pathOnly | constants.O_NOFOLLOW)
    try {
      requireSocket(await handle.stat(), user)
    } catch (error) {
      await handle.close()
      throw error
    }
    return { path: `${descriptors}/${handle.fd}`, isHeld: true, close: () => handle.close() }
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function requireSocket(found: { isSocket(): boolean; uid: number }, user: number): void {
  if (!found.isSocket()) throw new Error('the file at the path of its socket is not a socket')
  if (found.uid !== user) throw new Error('its socket belongs to another user')
}
