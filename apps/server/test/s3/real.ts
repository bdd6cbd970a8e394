import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe } from 'vitest'
import { parseS3Address, type S3Address } from '../../src/platform/blobs/s3-address.js'
import { createS3Client } from '../../src/platform/blobs/s3-client.js'
import { listObjects, listUploads } from '../../src/platform/blobs/s3-list.js'
import { abortUpload } from '../../src/platform/blobs/s3-put.js'
import { hasSwift, startSwift } from './swift.js'

/** An object store that was not written for these tests. */
export interface RealS3 {
  /** Its address; each call has a prefix of its own unless one is given, below that of the run. */
  address(changes?: Partial<S3Address>): S3Address
  /** The same as settings of a server. */
  environment(changes?: Partial<S3Address>): Record<string, string>
}

const { BOTSTEAD_TEST_S3_URL: given } = process.env
const isThere = given !== undefined || hasSwift()

/**
 * Defines tests on a store that was not written for them: the one of `BOTSTEAD_TEST_S3_URL`, else
 * OpenStack Swift where it is installed. Without either they are skipped, and their name contains the reason.
 */
export function describeRealS3(name: string, define: (store: () => RealS3) => void): void {
  const store = given === undefined ? 'OpenStack Swift' : 'the store of BOTSTEAD_TEST_S3_URL'
  const missing = isThere ? '' : ' (install python3-swift, or set BOTSTEAD_TEST_S3_URL)'
  describe.skipIf(!isThere)(`${name}: ${store}${missing}`, () => define(useRealS3()))
}

function useRealS3(): () => RealS3 {
  let running: Awaited<ReturnType<typeof startSwift>> | undefined
  beforeAll(async () => {
    running = given === undefined ? await startSwift() : useForeign(given)
  })
  afterAll(async () => {
    await running?.close()
  })
  return () => {
    if (running === undefined) throw new Error('The store is there only while a test runs')
    const base = running.address
    const address: RealS3['address'] = ({ prefix = `${randomUUID()}/`, ...changes } = {}) => {
      return { ...base, ...changes, prefix: `${base.prefix}${prefix}` }
    }
    return { address, environment: (changes) => toEnvironment(address(changes)) }
  }
}

/** A bucket of a foreign store, below a prefix of this run, which is emptied afterwards. */
function useForeign(url: string) {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION } = process.env
  const bucket = parseS3Address(url, {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
    region: AWS_REGION,
  })
  const address = { ...bucket, prefix: `${bucket.prefix}botstead-test-${randomUUID()}/` }
  return {
    address,
    close: async () => {
      const client = createS3Client(address)
      for await (const upload of listUploads(client, address)) await abortUpload(client, upload)
      for await (const { key } of listObjects(client, address)) {
        await client.send({ method: 'DELETE', key })
      }
    },
  }
}

function toEnvironment(address: S3Address): Record<string, string> {
  const { bucket, prefix, endpoint, region, pathStyle, sessionToken } = address
  const query = new URLSearchParams({ endpoint, region, path_style: String(pathStyle) })
  return {
    BOTSTEAD_BLOBS_URL: `s3://${bucket}/${prefix}?${query}`,
    AWS_ACCESS_KEY_ID: address.accessKeyId,
    AWS_SECRET_ACCESS_KEY: address.secretAccessKey,
    ...(sessionToken !== undefined && { AWS_SESSION_TOKEN: sessionToken }),
  }
}
