import { createHash } from 'node:crypto'
import type { S3Address } from './s3-address.js'
import type { S3Client } from './s3-client.js'
import { explain, S3Error, S3SetupError } from './s3-errors.js'

/** Its name could not be that of a blob, so no list shows it. */
const ownerKey = 'botstead.owner'

/**
 * Makes a prefix that of one installation. Two below the same prefix would sweep away each other's
 * contents, because each removes the blobs that its database does not know.
 */
export async function requireOwner(
  client: S3Client,
  address: S3Address,
  owner: string,
): Promise<void> {
  try {
    const found = await findOwner(client)
    if (found === owner) return
    if (found === undefined) return await claim(client, owner)
  } catch (error) {
    throw explain(error, address)
  }
  const place = `${address.bucket}/${address.prefix}`
  throw new S3SetupError(
    `Another installation keeps its contents in ${place}: give this one another prefix in BOTSTEAD_BLOBS_URL. If it is the same one with another BOTSTEAD_SECRET, delete ${place}${ownerKey} first.`,
  )
}

async function findOwner(client: S3Client): Promise<string | undefined> {
  try {
    return (await client.send({ method: 'GET', key: ownerKey })).body.trim()
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return undefined
    throw error
  }
}

async function claim(client: S3Client, owner: string): Promise<void> {
  const bytes = Buffer.from(owner)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await client.send({
    method: 'PUT',
    key: ownerKey,
    body: { chunks: [bytes], size: bytes.length, sha256 },
  })
}
