/** Address and credentials of an object store with the S3 interface. */
export interface S3Address {
  /** Origin of the service, without a trailing slash. */
  endpoint: string
  region: string
  bucket: string
  /** Prefix of every key: empty, or a path that ends with a slash. */
  prefix: string
  /** Whether the bucket stands in the path; otherwise it is part of the host name. */
  pathStyle: boolean
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary credentials. */
  sessionToken: string | undefined
  /** Milliseconds without a byte after which a request has failed; 30,000 if undefined. */
  idleTimeoutMs?: number
  /** Name of the address in errors. Default `BOTSTEAD_BLOBS_URL`. */
  calledBy?: string
}

/** Milliseconds without a byte after which a request to the store has failed. */
export function idleTimeoutOf({ idleTimeoutMs = 30_000 }: S3Address): number {
  return idleTimeoutMs
}

/** Values from the environment of the AWS tools, for what the address leaves out. */
export interface S3Environment {
  accessKeyId?: string | undefined
  secretAccessKey?: string | undefined
  sessionToken?: string | undefined
  region?: string | undefined
}

/** An address of an object store that cannot be used; the message is the rule that it breaks. */
export class S3AddressError extends Error {
  override name = 'S3AddressError'
}

const defaultRegion = 'us-east-1'
const parameters = ['endpoint', 'region', 'path_style', 'timeout']
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const prefixPath = /^[A-Za-z0-9!_.*'()/-]*$/
const maxPrefixLength = 512

/**
 * Reads `s3://user:password@bucket/prefix?endpoint=...&region=...&path_style=...&timeout=...`. User and password
 * are the access key, percent-encoded; without them, those of the environment count.
 * @throws S3AddressError whose message is what is wrong
 */
export function parseS3Address(text: string, environment: S3Environment): S3Address {
  // Not a WHATWG host: that would fold case and refuse what buckets may be called.
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 's3:') throw new S3AddressError('must begin with s3://')
  requireKnown(url.searchParams)
  const bucket = url.host
  if (!bucketName.test(bucket)) {
    throw new S3AddressError('needs the name of a bucket after s3://, 3 to 63 of a-z 0-9 . -')
  }
  const region = url.searchParams.get('region') ?? environment.region ?? defaultRegion
  if (!/^[a-z0-9-]{1,64}$/i.test(region)) throw new S3AddressError('has no usable region')
  const given = url.searchParams.get('endpoint')
  return {
    bucket,
    region,
    prefix: prefixOf(url.pathname),
    endpoint: given === null ? `https://s3.${region}.amazonaws.com` : originOf(given),
    pathStyle: pathStyleOf(url.searchParams.get('path_style'), {
      otherwise: given !== null || bucket.includes('.'),
    }),
    ...timeoutOf(url.searchParams.get('timeout')),
    ...credentialsOf(url, environment),
  }
}

function requireKnown(given: URLSearchParams): void {
  const unknown = [...given.keys()].find((name) => !parameters.includes(name))
  if (unknown === undefined) return
  throw new S3AddressError(`has a parameter ${unknown}, but only ${parameters.join(', ')} exist`)
}

function prefixOf(path: string): string {
  const prefix = path.replace(/^\/+|\/+$/g, '')
  const folders = prefix.split('/')
  if (
    !prefixPath.test(prefix) ||
    prefix.length > maxPrefixLength ||
    folders.some((each) => each === '.' || each === '..' || (each === '' && prefix !== ''))
  ) {
    throw new S3AddressError("has a prefix with more than A-Z a-z 0-9 ! _ . * ' ( ) - and /")
  }
  return prefix === '' ? '' : `${prefix}/`
}

function originOf(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) {
    throw new S3AddressError('needs an endpoint such as https://storage.example.com')
  }
  return url.origin
}

function pathStyleOf(given: string | null, { otherwise }: { otherwise: boolean }): boolean {
  if (given === null) return otherwise
  if (given === 'true' || given === 'false') return given === 'true'
  throw new S3AddressError('needs true or false as path_style')
}

/** From seconds, of which a store that works never needs many. */
function timeoutOf(given: string | null): Pick<S3Address, 'idleTimeoutMs'> {
  if (given === null) return {}
  const seconds = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (seconds >= 1 && seconds <= 600) return { idleTimeoutMs: seconds * 1000 }
  throw new S3AddressError('needs a timeout from 1 to 600 seconds')
}

function credentialsOf(url: URL, environment: S3Environment) {
  if (url.username !== '' || url.password !== '') {
    const [accessKeyId, secretAccessKey] = [decode(url.username), decode(url.password)]
    if (!accessKeyId || !secretAccessKey) {
      throw new S3AddressError('needs both user and password, percent-encoded')
    }
    return { accessKeyId, secretAccessKey, sessionToken: undefined }
  }
  const { accessKeyId, secretAccessKey, sessionToken } = environment
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new S3AddressError(
      'needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write s3://user:password@bucket',
    )
  }
  return { accessKeyId, secretAccessKey, sessionToken }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
