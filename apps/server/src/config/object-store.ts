import { parseS3Address, type S3Address, S3AddressError } from '../platform/blobs/s3-address.js'
import { type Environment, optional, readSettings, text } from './settings.js'

const blobsAddress = text(
  'an address such as s3://bucket/prefix?endpoint=https://storage.example.com&region=eu-central-1',
  /^s3:\/\/./,
)

/** Where file contents are, if not in the data folder. The AWS names are those that its tools use. */
export const objectStoreSettings = {
  blobsUrl: optional('BOTSTEAD_BLOBS_URL', blobsAddress, {
    default: 'none: the data folder',
    meaning:
      'Object store (S3) for file contents; endpoint, region and path_style are its parameters, user:password before the bucket its access key.',
    secret: true,
  }),
  accessKeyId: optional('AWS_ACCESS_KEY_ID', text('an access key', /^\S+$/), {
    default: 'user of BOTSTEAD_BLOBS_URL',
    meaning: 'Access key of the object store.',
  }),
  secretAccessKey: optional('AWS_SECRET_ACCESS_KEY', text('a secret key', /^\S+$/), {
    default: 'password of BOTSTEAD_BLOBS_URL',
    meaning: 'Secret of that access key.',
    secret: true,
  }),
  sessionToken: optional('AWS_SESSION_TOKEN', text('a session token', /^\S+$/), {
    default: 'none',
    meaning: 'Session token of a temporary access key.',
    secret: true,
  }),
  region: optional('AWS_REGION', text('a region such as eu-central-1', /^[\w-]+$/), {
    default: 'us-east-1',
    meaning: 'Region of the object store, when BOTSTEAD_BLOBS_URL has none.',
  }),
}

/**
 * The object store that the environment names, undefined for none.
 * @param problems gets a line for what is wrong
 */
export function readObjectStore(
  environment: Environment,
  problems: string[],
): S3Address | undefined {
  const { blobsUrl, ...rest } = readSettings(objectStoreSettings, environment, problems)
  if (blobsUrl === undefined) return undefined
  try {
    return Object.freeze(parseS3Address(blobsUrl, rest))
  } catch (error) {
    if (!(error instanceof S3AddressError)) throw error
    problems.push(`BOTSTEAD_BLOBS_URL ${error.message}.`)
    return undefined
  }
}
