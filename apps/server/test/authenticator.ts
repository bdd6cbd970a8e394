import {
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'

/** Kinds of keys, as COSE numbers their algorithms. */
export const keyKinds = { Ed25519: -8, ES256: -7, RS256: -257 } as const
export type KeyKind = keyof typeof keyKinds

/** Deviations from what a device and a browser do. */
export interface Deviations {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  /** Whether the device checked its owner. */
  isVerified?: boolean
  counter?: number
  userHandle?: string
  /** What says who made the device. */
  attestation?: { format: string; statement: ReadonlyMap<string, unknown> }
  /** Fields of the COSE key in place of its own, by label. */
  key?: readonly [number, unknown][]
  /** Changes the signed data after it was signed. */
  isForged?: boolean
}

interface Options {
  challenge: string
  rpId?: string
  rp?: { id: string }
  user?: { id: string }
}

const flagPresent = 0x01
const flagVerified = 0x04
const flagSyncable = 0x08
const flagBackedUp = 0x10
const flagCredential = 0x40

/** A passkey in a device made of software, with the browser in front of it. */
export class TestAuthenticator {
  readonly id = randomBytes(32)
  /** Uses; a device that does not count leaves it at 0. */
  counter = 0
  isSynced = false
  #userHandle = ''
  readonly #kind: KeyKind
  readonly #origin: string
  readonly #privateKey: KeyObject
  readonly #publicKey: JsonWebKey

  constructor(origin: string, kind: KeyKind = 'ES256') {
    this.#origin = origin
    this.#kind = kind
    const { privateKey, publicKey } = makeKeys(kind)
    this.#privateKey = privateKey
    this.#publicKey = publicKey.export({ format: 'jwk' })
  }

  /** What `navigator.credentials.create` returns as JSON. */
  create(options: Options, deviations: Deviations = {}) {
    this.#userHandle = options.user?.id ?? ''
    const clientData = this.#clientData('webauthn.create', options, deviations)
    const key = this.#coseKey(deviations.key)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const data = Buffer.concat([
      this.#data(options, deviations, flagCredential),
      Buffer.alloc(16),
      length,
      this.id,
      key,
    ])
    const attestation = cbor(
      new Map<string, unknown>([
        ['fmt', deviations.attestation?.format ?? 'none'],
        ['attStmt', deviations.attestation?.statement ?? new Map()],
        ['authData', data],
      ]),
    )
    return {
      id: this.id.toString('base64url'),
      rawId: this.id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** What `navigator.credentials.get` returns as JSON. */
  get(options: Options, deviations: Deviations = {}) {
    const clientData = this.#clientData('webauthn.get', options, deviations)
    const data = this.#data(options, deviations)
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
    const algorithm = this.#kind === 'Ed25519' ? null : 'sha256'
    const signature = sign(algorithm, signed, this.#privateKey)
    if (deviations.isForged) data.writeUInt32BE(data.readUInt32BE(33) + 1, 33)
    return {
      id: this.id.toString('base64url'),
      rawId: this.id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: deviations.userHandle ?? this.#userHandle,
      },
    }
  }

  #clientData(type: string, options: Options, deviations: Deviations): Buffer {
    const { origin = this.#origin, challenge = options.challenge } = deviations
    const data = { type: deviations.type ?? type, challenge, origin, crossOrigin: false }
    return Buffer.from(JSON.stringify(data))
  }

  #data(options: Options, deviations: Deviations, more = 0): Buffer {
    const rpId = deviations.rpId ?? options.rpId ?? options.rp?.id ?? ''
    const { isVerified = true, counter = this.counter } = deviations
    const flags =
      flagPresent |
      (isVerified ? flagVerified : 0) |
      (this.isSynced ? flagSyncable | flagBackedUp : 0) |
      more
    const rest = Buffer.alloc(5)
    rest.writeUInt8(flags)
    rest.writeUInt32BE(counter, 1)
    return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
  }

  /** The public key as RFC 9052 writes it. */
  #coseKey(others: Deviations['key'] = []): Buffer {
    const { x = '', y = '', n = '', e = '' } = this.#publicKey
    const bytes = (text: string) => Buffer.from(text, 'base64url')
    const alg = keyKinds[this.#kind]
    const fields: Record<KeyKind, [number, unknown][]> = {
      Ed25519: [
        [1, 1],
        [3, alg],
        [-1, 6],
        [-2, bytes(x)],
      ],
      ES256: [
        [1, 2],
        [3, alg],
        [-1, 1],
        [-2, bytes(x)],
        [-3, bytes(y)],
      ],
      RS256: [
        [1, 3],
        [3, alg],
        [-1, bytes(n)],
        [-2, bytes(e)],
      ],
    }
    return cbor(new Map([...fields[this.#kind], ...others]))
  }
}

function makeKeys(kind: KeyKind) {
  switch (kind) {
    case 'Ed25519':
      return generateKeyPairSync('ed25519')
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 })
  }
}

/** Numbers, texts, bytes and maps as RFC 8949 writes them. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) {
    return Buffer.concat([
      head(5, value.size),
      ...[...value].flatMap(([key, item]) => [cbor(key), cbor(item)]),
    ])
  }
  throw new TypeError(`${typeof value} is not written here`)
}

function head(major: number, length: number): Buffer {
  const type = major << 5
  if (length < 24) return Buffer.from([type | length])
  if (length < 256) return Buffer.from([type | 24, length])
  if (length < 65_536) return Buffer.from([type | 25, length >> 8, length & 255])
  const bytes = Buffer.alloc(5, type | 26)
  bytes.writeUInt32BE(length, 1)
  return bytes
}
