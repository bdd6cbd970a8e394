import { createHash, randomUUID } from 'node:crypto'
import { findOwner } from './s3.js'
import type { S3Address } from './s3-address.js'
import { createS3Client } from './s3-client.js'
import { listObjects } from './s3-list.js'
import { explain } from './s3-responses.js'

/** The result of a probe of an object store. */
export interface S3Probe {
  /** Time of the store, in milliseconds since the Unix epoch; undefined if it sends none. */
  storeTime: number | undefined
  /** Time of this machine when that was received. */
  ownTime: number
  /** Name of the installation that keeps its contents there. */
  owner: string | undefined
}

/** Milliseconds without a byte after which a request has failed. */
const idleTimeout = 5000

/**
 * Lists, writes, reads and deletes below the prefix, each once. What an interrupted probe leaves behind looks like a blob,
 * which the daily sweep removes.
 * @throws Error whose one line is what to do when the store cannot be used
 */
export async function probeS3(address: S3Address, signal: AbortSignal): Promise<S3Probe> {
  const client = createS3Client(address, { idleTimeout })
  const key = `doctor-${randomUUID()}`
  const bytes = Buffer.from(`botstead doctor ${key}`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { chunks: [bytes], size: bytes.length, sha256 }
  const once = { attempts: 1, signal }
  try {
    await listObjects(client, address, { limit: 1, attempts: 1 }).next()
    const owner = await findOwner(client)
    const { headers } = await client.send({ method: 'PUT', key, body, ...once })
    const ownTime = Date.now()
    try {
      const read = await client.send({ method: 'GET', key, ...once })
      if (read.body !== bytes.toString()) {
        throw new Error(
          `The object store at ${address.endpoint} returns other bytes than were written: check it, or what is in front of it.`,
        )
      }
    } finally {
      await client.send({ method: 'DELETE', key, ...once })
    }
    const storeTime = Date.parse(headers.date ?? '')
    return { storeTime: Number.isNaN(storeTime) ? undefined : storeTime, ownTime, owner }
  } catch (error) {
    throw explain(error, address)
  }
}
