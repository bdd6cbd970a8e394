import { request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenSocket } from './socket.js'

/** Milliseconds between two looks for the socket of a program that starts. */
const lookMs = 5

/** Waits until the program listens. @throws if the file at its path is not a socket, or when the signal aborts */
export async function untilListening(
  find: () => Promise<OpenSocket | undefined>,
  signal: AbortSignal,
): Promise<OpenSocket> {
  for (;;) {
    signal.throwIfAborted()
    const found = await find()
    if (found) return found
    await sleep(lookMs)
  }
}

/**
 * Opens the connection on which the host program sends its reports, and nothing else. The program loads the
 * code afterwards.
 */
export async function connectReports(path: string, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await upgrade(path, signal)
    } catch {
      // The file of the socket is there a moment before it listens.
      await sleep(lookMs)
    }
  }
}

function upgrade(path: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    request({
      socketPath: path,
      path: '/reports',
      headers: { connection: 'Upgrade', upgrade: 'reports' },
      signal,
    })
      .once('upgrade', (_, socket: Socket, first: Buffer) => {
        if (first.length > 0) socket.unshift(first)
        resolve(socket)
      })
      .once('response', (response) => {
        response.destroy()
        reject(new Error('the program opens no connection for its reports'))
      })
      .on('error', reject)
      .end()
  })
}
